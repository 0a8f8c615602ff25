// Package judges lets programs of others judge the virtual printer and the encoder: receiptio talks
// to the printer as a host, receiptline and receipt-printer-encoder send it what they make, and
// zbarimg reads codes from its pictures. They are installed by the tests themselves, by name and
// version, into a folder that goes away; nothing of theirs is kept here.
//
// The packages come from npm: node and npm must be there, and zbarimg (Debian: zbar-tools);
// .ci/prepare sees to it. There is no code here but tests.
package judges
