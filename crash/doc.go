// Package crash holds the tests that kill whole programs: processes end by SIGKILL at every step
// of a ticket's life, printers fail and cables are cut meanwhile, and the virtual printers' paper
// says whether the promise held.
//
//	go test ./crash                      a few kills at each place
//	go test ./crash -crash.rounds=100    more of them
//
// The programs are built once with the tag failpoint and die where [chit/failpoint.Names] says;
// there is nothing in this package that another could import.
package crash
