package wire

import "testing"

func BenchmarkCanonical(b *testing.B) {
	for b.Loop() {
		if _, _, err := Canonical([]byte(example)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSignTicket(b *testing.B) {
	s, m := signerOf(b, brokerKey), exampleTicket()
	for b.Loop() {
		if _, err := s.SignTicket(m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenTicket(b *testing.B) {
	raw, err := signerOf(b, brokerKey).SignTicket(exampleTicket())
	if err != nil {
		b.Fatal(err)
	}
	keys := keysOf(b, brokerKey)
	for b.Loop() {
		if _, err := keys.OpenTicket(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenAck(b *testing.B) {
	raw, err := signerOf(b, deviceKey).SignAck(exampleAck)
	if err != nil {
		b.Fatal(err)
	}
	keys := keysOf(b, deviceKey)
	for b.Loop() {
		if _, err := keys.OpenAck(raw); err != nil {
			b.Fatal(err)
		}
	}
}
