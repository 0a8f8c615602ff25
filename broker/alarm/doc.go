// Package alarm decides when somebody must be told, whom, and when that is enough.
//
// It is pure: time and chance are arguments, what is to be sent comes out as values. [Watch] turns
// what happens to deliveries into causes; [Machine] is the state machine of one alarm, of which
// there is never more than one for a cause; the commands around it ([Raise], [Clear],
// [Acknowledge], [Elapse], [Record], [Settle]) answer with Commits that the desk makes durable;
// [Breaker] keeps a destination that does not answer from being called in vain.
//
// A message names number, station, age and reason, never what a guest ordered or is called.
//
//	answer, err := desk.Do(ctx, alarm.Raise{Tenant: "t1", Cause: "late/grill", …})
//	a, version, err := alarm.Load(store, "t1", "late/grill")
//	sends, done := a.Sends(destinations, now)
//	answer, err := desk.Do(ctx, alarm.Acknowledge{Tenant: "t1", Cause: "late/grill", Who: "ana"})
package alarm
