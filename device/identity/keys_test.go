package identity

import (
	"sync"
	"testing"
)

// A daemon that waits for its pairing makes keys, and so does the command that pairs.
func TestProgramsThatMakeKeysAtOnceHaveTheSameKeys(t *testing.T) {
	const programs = 8
	for range 50 {
		dir := t.TempDir()
		var prints [programs]string
		var errs [programs]error
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i := range programs {
			all.Go(func() {
				<-begin
				prints[i], errs[i] = Fingerprint(dir)
			})
		}
		close(begin)
		all.Wait()
		last, err := Fingerprint(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range programs {
			if errs[i] != nil || prints[i] != last {
				t.Fatalf("program %d: %q, %v; on disk is %q", i, prints[i], errs[i], last)
			}
		}
	}
}
