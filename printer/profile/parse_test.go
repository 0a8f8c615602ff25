package profile

import (
	"strings"
	"testing"
)

func TestAFaultInTheDataNamesItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"  width 576 [db]":                   "line 1: a fact before the first name",
		"a\n  width 576":                     "line 2: found \"width 576\", expected a value",
		"a\n  width 576 [db":                 "line 2: found \"width 576 [db\", expected [",
		"a\n  width wide [db]":               "line 2: width: ",
		"a\n  wide 576 [db]":                 "line 2: unknown fact \"wide\"",
		"a\n  qr maybe [db]":                 "line 2: qr: found \"maybe\", expected yes or no",
		"a\n  images fax [db]":               "line 2: images: found \"fax\"",
		"a\n  cutter knife [db]":             "line 2: cutter: found \"knife\"",
		"a\n  pages 256=CP437 [db]":          "line 2: pages: found \"256=CP437\"",
		"a\n  answers TM-X xyz [db]":         "line 2: answers: found \"TM-X xyz\"",
		"a\n  pages 0 [db]":                  "line 2: pages: found \"0\"",
		"\na\n  width 5 [db]\n  width 4 [E]": "line 4: width is there twice",
	} {
		if _, err := parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAFactKeepsItsSourceAndPagesTheirOrder(t *testing.T) {
	all, err := parse("a\n  vendor V w\n  pages 46=WINDOWS-1251 0=CP437 [db rpe]\n  columns 33 40 [x]")
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	m := all[0]
	if m.Vendor != "V w" || m.Columns != 33 || m.ColumnsB != 40 || m.Pages[0].Number != 0 ||
		m.Pages[1] != (Page{46, "WINDOWS-1251"}) || m.Facts[1].Source != "db rpe" {
		t.Errorf("%+v", m)
	}
}
