// Reads [{document, options}, ...] as JSON, lets receiptio carry all of them out at the same time,
// and writes their results: words such as "success".
import { readFileSync } from 'node:fs';
import receiptio from 'receiptio';

const jobs = JSON.parse(readFileSync(0, 'utf8'));
const results = await Promise.all(jobs.map(j => receiptio.print(j.document, j.options)));
console.log(JSON.stringify(results));
