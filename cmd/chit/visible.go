package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// visible is w for words that a device, a printer or a guest chose: what could steer a terminal is
// written out. Lines and tabs stay, because the program lays its tables out with them.
func visible(w io.Writer) io.Writer { return visibleWriter{w} }

type visibleWriter struct{ to io.Writer }

// Write implements io.Writer. A character that is cut in two by the caller is written out too.
func (v visibleWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(v.to, visibleText(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// line prints one line of a list or a row of a table: in its words also line ends and tabs are
// written out, else a word could forge a row. A tabwriter takes more bytes than those for its own,
// so a row is to be made by this and not by Fprintf.
func line(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = visibleWord(s)
		}
	}
	fmt.Fprintf(w, format, args...)
}

// visibleWord is visibleText for what stands in one line, in one cell.
func visibleWord(s string) string {
	return strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(visibleText(s))
}

// visibleText writes out C0 but line ends and tabs, DEL, C1, bidi controls and bytes that are no
// UTF-8.
func visibleText(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
			} else {
				b.WriteRune(r)
			}
		case r < ' ', 0x7f <= r && r <= 0x9f, 0x200e <= r && r <= 0x200f, 0x2028 <= r && r <= 0x202e,
			0x2066 <= r && r <= 0x2069:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
