// Reads [{options, pages, calls}, ...] as JSON, for @point-of-sale/receipt-printer-encoder: options
// of the constructor, names of code pages to look for, and calls as [method, argument, ...]. Writes
// for each: what the printer is, the numbers of those pages that it has, and the bytes in base64.
import { readFileSync } from 'node:fs';
import ReceiptPrinterEncoder from '@point-of-sale/receipt-printer-encoder';

// numberOf is the n of ESC t for a page, or -1 where the printer lacks it.
const numberOf = (options, page) => {
    try {
        const bytes = new ReceiptPrinterEncoder(options).initialize().codepage(page).text('\u00a0')
            .encode();
        const at = bytes.findIndex((b, i) => b === 0x1b && bytes[i + 1] === 0x74);
        return at < 0 ? -1 : bytes[at + 2];
    } catch {
        return -1;
    }
};

// picture is a square with a diagonal, as image data.
const picture = size => {
    const data = new Uint8ClampedArray(size * size * 4).fill(255);
    for (let i = 0; i < size; i++) {
        for (const [x, y] of [[i, i], [i, 0], [0, i], [i, size - 1], [size - 1, i]]) {
            data.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3);
        }
    }
    return { width: size, height: size, data };
};

const jobs = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(jobs.map(({ options, pages, calls }) => {
    const found = Object.fromEntries(pages.map(page => [page, numberOf(options, page)])
        .filter(([, n]) => n >= 0));
    if (options.codepageCandidates) {
        options.codepageCandidates = options.codepageCandidates.filter(page => page in found);
        if (options.codepageCandidates.length === 0) { // Not ESC/POS.
            delete options.codepageCandidates;
        }
    }
    const encoder = new ReceiptPrinterEncoder(options);
    const { symbologies } = encoder.printerCapabilities.barcodes;
    const { language, columns } = encoder;
    for (const [method, ...given] of calls) {
        if (method === 'image') {
            encoder.image(picture(given[0]), given[0], given[0], 'threshold');
            continue;
        }
        encoder[method](...given);
    }
    const stream = Buffer.from(encoder.encode()).toString('base64');
    const { qrcode, pdf417 } = encoder.printerCapabilities;
    return { language, columns, pages: found, symbologies, qr: qrcode.supported, qrModels: qrcode.models,
        pdf417: pdf417.supported, stream };
})));
