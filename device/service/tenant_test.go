package service

import (
	"os"
	"testing"
)

func TestJournalOfAnotherTenantIsPutAside(t *testing.T) {
	k := newKitchen(t)
	k.sends("a1", 1)
	k.phone.untilSaid("printed a1/1@grill")
	first := k.phone.acks[0].Journal
	k.stop()
	k.tenant = "other"
	k.start()
	t.Logf("# the same id means another order there")
	k.phone.tell("", func() { k.phone.story = nil })
	k.sends("a1", 1)
	k.phone.untilSaid("printed a1/1@grill")
	k.phone.mu.Lock()
	defer k.phone.mu.Unlock()
	if last := k.phone.acks[len(k.phone.acks)-1]; last.Journal == first {
		t.Error("another tenant is answered from the same journal")
	}
	if _, err := os.Stat(k.conf.JournalPath() + ".retired-1"); err != nil {
		t.Errorf("the old journal is not kept: %v", err)
	}
}
