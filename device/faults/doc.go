// Package faults holds the fault matrix: a ticket's way from the device's core over its journal and
// a printer's session to paper, on each kind of cable and with each kind of printer, while
// something goes wrong at each line and in each region of its bytes. The paper says whether it was
// lost or doubled, and a golden table shows what the device said about it.
//
//	go test ./device/faults -v               prints the table
//	go test ./device/faults -faults.update writes testdata/matrix.txt anew, for a review
//
// There is nothing in this package that another could import.
package faults
