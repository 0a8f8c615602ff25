// Package virtual is a receipt printer in software: bytes go in, answers and paper come out.
//
// It is pure: time comes in as an argument, answers and paper go out as values. The serve folder
// puts it behind a socket. It is strict: a command it does not know is an error that is kept on the
// paper's record, and counts of paper are its own, never those of the program under test.
package virtual
