package layout

import (
	"strconv"
	"strings"
	"time"

	"chit/device/layout/words"
	"chit/printer/document"
)

// facts are type, table and guests.
func (s *sheet) facts() {
	c, hides := s.in.Content, s.in.Options.Template.hides
	var left, right []document.Span
	if c.Type != "" && !hides(FactType) {
		left = append(left, document.Span{Text: s.way(c.Type), Style: tall})
	}
	if c.Table != "" && !hides(FactTable) {
		right = append(right, document.Span{
			Text: words.Fill(s.w.Table, "table", flat(c.Table)), Style: tall,
		})
	}
	if c.Guests > 0 && !hides(FactGuests) {
		text := s.w.Count(s.w.Guests, c.Guests)
		if len(right) > 0 {
			text = " · " + text
		}
		right = append(right, document.Span{Text: text, Style: s.body.fact})
	}
	s.pair(left, right)
}

// way is how the order is eaten; what is none of the known three is printed as it came.
func (s *sheet) way(kind string) string {
	if s.w.Tag != "en" {
		switch strings.ToLower(flat(kind)) {
		case "dine-in", "dine in", "eat-in", "eat in":
			return s.w.DineIn
		case "take-away", "takeaway", "take away", "takeout", "take-out", "to go", "to-go", "pickup",
			"pick-up":
			return s.w.TakeAway
		case "delivery":
			return s.w.Delivery
		}
	}
	return s.w.Upper(flat(kind))
}

func (s *sheet) customer() {
	customer := s.in.Content.Customer
	if customer == nil || !s.in.Options.ShowCustomer {
		return
	}
	for _, text := range []string{customer.Name, customer.Phone} {
		if text != "" {
			s.doc.Add(document.Text(words.Fill(s.w.Customer, "customer", quoted(text)), s.body.fact))
		}
	}
}

// times prints the due time large: it is what the cook plans by.
func (s *sheet) times() {
	c, zone, hides := s.in.Content, s.in.Options.Location, s.in.Options.Template.hides
	var left, right []document.Span
	if c.DueAt != "" && !hides(FactDue) {
		left = append(left, document.Span{
			Text: words.Fill(s.w.Due, "time", due(c.DueAt, c.PlacedAt, zone, s.w)), Style: tall,
		})
	}
	if c.PlacedAt != "" && !hides(FactPlaced) {
		right = append(right, document.Span{
			Text: words.Fill(s.w.Placed, "time", clock(c.PlacedAt, zone)), Style: s.body.fact,
		})
	}
	s.pair(left, right)
	if printed := s.printed(); printed != "" && !hides(FactPrinted) {
		s.doc.Add(document.Text(printed, s.body.fact))
	}
}

// toPaperMax is the longest time to paper that is said: what took longer was waited for on purpose,
// and its banner or the backlog slip has said so.
const toPaperMax = 24 * time.Hour

// printed is "Printed 18:14, after 2 min": the time from the order, or from its release where that
// is later, to this paper.
func (s *sheet) printed() string {
	now := s.in.Facts.PrintedAt
	if now.IsZero() {
		return ""
	}
	zone := s.in.Options.Location
	from, ok := instant(s.in.Content.PlacedAt, zone)
	if release, later := instant(s.in.Content.ReleaseAt, zone); later && (!ok || release.After(from)) {
		from, ok = release, true
	}
	switch {
	case zone != nil:
		now = now.In(zone)
	case ok:
		now = now.In(from.Location())
	default:
		now = now.UTC()
	}
	took := now.Sub(from)
	if !ok || took < 0 || took > toPaperMax {
		return words.Fill(s.w.Printed, "time", now.Format(clockForm))
	}
	return words.Fill(s.w.PrintedAfter, "time", now.Format(clockForm), "age", age(took, s.w))
}

// age is a duration as a cook reads it: "42 min", "3 h 5 min".
func age(d time.Duration, w *words.Words) string {
	minutes := int(max(d, 0) / time.Minute)
	h, m := strconv.Itoa(minutes/60), strconv.Itoa(minutes%60)
	if minutes < 60 {
		return words.Fill(w.Minutes, "m", m)
	}
	return words.Fill(w.Hours, "h", h, "m", m)
}

// code is the ticket's address as a QR code: an id and nothing that was typed.
func (s *sheet) code() {
	id := s.id()
	if id == "" || s.in.Options.Compact || !s.in.Options.Codes {
		return
	}
	address := s.in.Options.Address
	if address == "" {
		address = "chit:"
	}
	data := address + escaped(id)
	if len(data) > qrMax {
		return // The foot line has the id in letters.
	}
	s.doc.Add(document.QR{Data: data, Module: s.in.Options.Template.QRModule})
}

// qrMax is the most that a code on paper holds; [document.QR].
const qrMax = 200

// escaped is an id as a part of an address: everything but unreserved characters, "/" and "@" is
// percent-encoded. Source: RFC 3986 section 3.3, pchar.
func escaped(id string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte("-._~/@", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}
