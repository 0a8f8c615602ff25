package layout

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// The door refuses by wire.Content.LinesMin what no printer could print on 1 m. It must never
// refuse what one could.
func TestNothingThatPrintsIsRefusedAtTheDoorForItsLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"a", "soup", "x y z", "花生过敏过敏", "é", "█"}).Draw(t, "w") +
				strings.Repeat(rapid.SampledFrom([]string{"m", " ", "\u200b"}).Draw(t, "c"),
					rapid.IntRange(0, 150).Draw(t, "n"))
		})
		in := Input{Content: wire.Content{ID: "o/1", Kind: wire.KindNew}}
		for range rapid.IntRange(1, 120).Draw(t, "items") {
			in.Content.Items = append(in.Content.Items, wire.Item{
				Quantity: 1, Name: text.Draw(t, "name"),
				Modifiers: rapid.SliceOfN(text, 0, 2).Draw(t, "modifiers"),
				Allergens: rapid.SliceOfN(rapid.Just("nuts"), 0, 1).Draw(t, "allergens"),
			})
		}
		for _, name := range profile.Names() {
			p, err := profile.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			in.Options.Columns = p.Columns
			if _, err := escpos.Encode(Plain(in, ""), p); err != nil {
				continue
			}
			if lines := in.Content.LinesMin(); lines > wire.LinesMax {
				t.Fatalf("%s prints it, and the door counts %d lines", name, lines)
			}
		}
	})
}
