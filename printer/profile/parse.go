package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// bufferBytes is the smallest receive buffer that is sold.
const bufferBytes = 4096

// parse reads models. A model begins with its name at the margin; its facts follow, indented, each
// "key value [source]". Lines that begin with # are remarks.
//
//	vendor NAME, model NAME, db NAME      names, which need no source
//	columns A [B]                         of fonts A and B
//	width DOTS, dpi N, buffer BYTES, strip BYTES, feed LINES
//	images raster|column|none             GS v 0, ESC *
//	cutter no | full and/or partial
//	impact, qr, drawer, red yes|no
//	pages N=ENCODING ...                  n of ESC t; may be repeated
//	without N=ENCODING ...                pages that sources contradict
//	answers MODEL LETTERS[-LETTERS]       what tells the model from clones, see auto.go
//	refused WHY                           why nothing is printed there, and what to do
func parse(text string) ([]Model, error) {
	var all []Model
	for i, line := range strings.Split(text, "\n") {
		fact, indented := strings.CutPrefix(line, "  ")
		var err error
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case !indented:
			all = append(all, Model{Profile: Profile{Name: line, BufferBytes: bufferBytes}})
		case len(all) == 0:
			err = fmt.Errorf("a fact before the first name")
		default:
			err = all[len(all)-1].learn(fact)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for i := range all {
		slices.SortStableFunc(all[i].Pages, func(a, b Page) int {
			return preference(a.Encoding) - preference(b.Encoding)
		})
	}
	return all, nil
}

// learn takes one line of a model.
func (m *Model) learn(line string) error {
	value, source := line, ""
	if before, after, sourced := strings.Cut(line, " ["); sourced {
		var closed bool
		if source, closed = strings.CutSuffix(after, "]"); !closed || source == "" {
			return fmt.Errorf("found %q, expected [source] at its end", line)
		}
		value = before
	}
	key, value, _ := strings.Cut(value, " ")
	named := key == "vendor" || key == "model" || key == "db"
	if value == "" || named != (source == "") {
		return fmt.Errorf("found %q, expected a value and its source", line)
	}
	if key != "pages" && key != "without" && slices.ContainsFunc(m.Facts,
		func(f Fact) bool { return f.Name == key }) {
		return fmt.Errorf("%s is there twice", key)
	}
	m.Facts = append(m.Facts, Fact{Name: key, Value: value, Source: source})
	return m.set(key, value)
}

func (m *Model) set(key, value string) (err error) {
	switch key {
	case "vendor":
		m.Vendor = value
	case "model":
		m.Model = value
	case "db":
		m.DB = value
	case "refused":
		m.Refused = value
	case "columns":
		a, b, two := strings.Cut(value, " ")
		if m.Columns, err = strconv.Atoi(a); err == nil && two {
			m.ColumnsB, err = strconv.Atoi(b)
		}
	case "width":
		m.WidthDots, err = strconv.Atoi(value)
	case "dpi":
		m.DPI, err = strconv.Atoi(value)
	case "buffer":
		m.BufferBytes, err = strconv.Atoi(value)
	case "strip":
		m.StripBytes, err = strconv.Atoi(value)
	case "feed":
		m.CutFeed, err = strconv.Atoi(value)
	case "images":
		m.Images, err = images(value)
	case "cutter":
		m.Cutter, err = cutter(value)
	case "impact":
		m.Impact, err = yes(value)
	case "qr":
		m.QR, err = yes(value)
	case "drawer":
		m.Drawer, err = yes(value)
	case "red":
		m.Red, err = yes(value)
	case "answers":
		m.answers, err = parseAnswers(value)
	case "pages":
		m.Pages, err = appendPages(m.Pages, value)
	case "without":
		m.Doubted, err = appendPages(m.Doubted, value)
	default:
		return fmt.Errorf("unknown fact %q", key)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func yes(value string) (bool, error) {
	if value != "yes" && value != "no" {
		return false, fmt.Errorf("found %q, expected yes or no", value)
	}
	return value == "yes", nil
}

func images(value string) (Images, error) {
	switch value {
	case "none":
		return ImagesNone, nil
	case "raster":
		return ImagesRaster, nil
	case "column":
		return ImagesColumn, nil
	}
	return 0, fmt.Errorf("found %q, expected none, raster or column", value)
}

func cutter(value string) (bool, error) {
	switch value {
	case "no":
		return false, nil
	case "full", "partial", "full partial":
		return true, nil
	}
	return false, fmt.Errorf("found %q, expected no, full, partial or full partial", value)
}

func appendPages(pages []Page, value string) ([]Page, error) {
	for _, field := range strings.Fields(value) {
		number, encoding, _ := strings.Cut(field, "=")
		n, err := strconv.ParseUint(number, 10, 8)
		if err != nil || encoding == "" {
			return nil, fmt.Errorf("found %q, expected N=ENCODING", field)
		}
		pages = append(pages, Page{byte(n), encoding})
	}
	return pages, nil
}

// preferred is the order in which pages are taken where several have a character: first those whose
// numbers most printers agree on.
var preferred = []string{
	"CP437", "CP850", "CP860", "CP863", "CP865", "CP858", "WINDOWS-1252", "CP852", "CP866",
	"ISO-8859-7", "CP855", "ISO-8859-2", "ISO-8859-15", "WINDOWS-1250", "WINDOWS-1251",
	"WINDOWS-1253", "WINDOWS-1254", "WINDOWS-1257", "CP857", "CP737", "CP775", "CP861", "CP869",
	"CP1125", "RK1048", "TCVN-3-1", "TCVN-3-2", "CP772", "CP774", "ISO-8859-9", "ISO-8859-1",
	"ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "WINDOWS-1258",
}

// preference is the place of an encoding in that order; others are last.
func preference(encoding string) int {
	if i := slices.Index(preferred, encoding); i >= 0 {
		return i
	}
	return len(preferred)
}
