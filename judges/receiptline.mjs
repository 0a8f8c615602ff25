// Reads [{document, printer}, ...] as JSON and writes, for each, what receiptline makes of the
// document: its own text, and the bytes in base64.
import { readFileSync } from 'node:fs';
import receiptline from 'receiptline';

const answers = JSON.parse(readFileSync(0, 'utf8')).map(({ document, printer }) => ({
    text: receiptline.transform(document, { ...printer, command: 'text' }),
    stream: Buffer.from(receiptline.transform(document, printer), 'binary').toString('base64'),
}));
console.log(JSON.stringify(answers));
