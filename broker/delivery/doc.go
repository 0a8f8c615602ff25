// Package delivery decides what happens to a ticket's delivery next: lease, budget, back-off, park,
// settle, dead, redrive (DESIGN.md section 5).
//
// It is pure: time and random numbers are arguments, effects are values. [Machine] is the state
// machine of one delivery. The commands around it ([Accept], [Dispatch], [Acknowledge], [Redrive]
// …) read what they need through an [entity.View] and answer with a Commit; the desk runs them:
//
//	answer, err := desk.Do(ctx, delivery.Accept{Tenant: "t1", Content: content, Data: data})
//	d, version, err := delivery.Load(store, "t1", "17-4711/1@grill")
//	rows, err := store.Rows(delivery.ListDead, "t1", entity.Row{}, 100)
//	answer, err := desk.Do(ctx, delivery.Redrive{Tenant: "t1", Ticket: id, Who: "ana", Why: "…"})
package delivery
