// Package failpoint marks the step boundaries at which the crash tests kill a program.
//
//	failpoint.Here("device.received.before-commit")
//
// In a normal build Here is empty and inlined away. Built with -tags failpoint, the process sends
// itself SIGKILL at the passage named in the environment, CHIT_FAILPOINT=name or name:n for the nth
// passage; nothing is flushed, no deferred function runs, as when the power is cut.
//
// With CHIT_FAILPOINT=name:n:stop it is SIGSTOP instead: the process is stuck there, with all its
// connections, until somebody continues it.
//
// CHIT_FAILPOINT=@FILE arms a running program: the passage is read from FILE, which may appear,
// change and go at any time. The file is removed before the signal, so that the next process lives.
package failpoint
