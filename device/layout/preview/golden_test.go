package preview

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chit/device/layout"
	"chit/device/layout/words"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/raster"
)

var update = flag.Bool("update", false, "rewrite the golden papers in testdata")

var widths = []int{58, 76, 80}

// drawn is true where the paper is drawn and its hash kept: one kind in every language and width,
// and every kind and width in a language that is spelt and one that is drawn from the right. All
// together would take minutes under the race detector.
func drawn(language, kind string) bool {
	return kind == "new" || language == "en" || language == "ar"
}

// pictured is true where the picture itself is kept, so that a person can look at it. All pictures
// together would be several megabytes that change with one letter.
func pictured(language, kind string, mm int) bool {
	return kind == "new" && mm != 76 || language == "en" && mm != 58 && strings.Contains(
		"change void possible-duplicate moved slip-backlog", kind)
}

func TestEveryPaperInEveryLanguageLooksAsReviewed(t *testing.T) {
	drawer := raster.New(raster.Fonts{})
	for _, tag := range words.Tags() {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			var text, sums strings.Builder
			for _, mm := range widths {
				facts, _ := profile.SafeFor(mm)
				for _, k := range kinds {
					doc := k.lay(layout.Options{Columns: facts.Columns, Language: tag})
					fmt.Fprintf(&text, "== %s, %d mm\n%s\n", k.name, mm, layout.Proof(doc, facts.Columns))
					if mm != 58 && !drawn(tag, k.name) {
						continue // The narrow papers are printed in every language.
					}
					paper, err := escpos.Encoder{Profile: facts, Drawer: drawer}.Encode(doc)
					if err != nil {
						t.Fatalf("%s, %d mm: %v", k.name, mm, err)
					}
					printed, err := Receive(paper, facts)
					if err != nil {
						t.Fatalf("%s, %d mm: %v", k.name, mm, err)
					}
					if !drawn(tag, k.name) {
						continue
					}
					picture := small(printed.Sheet.Render())
					fmt.Fprintf(&sums, "%-20s %d mm  %x\n", k.name, mm, sha256.Sum256(picture.Pix))
					if pictured(tag, k.name, mm) {
						asReviewed(t, fmt.Sprintf("%s-%s-%d.png", tag, k.name, mm), encoded(t, picture))
					}
				}
			}
			asReviewed(t, tag+".txt", []byte(text.String()))
			asReviewed(t, tag+".sums", []byte(sums.String()))
		})
	}
}

// small is the picture in as few colours as it has, one bit a dot where nothing is red.
func small(in *image.Paletted) *image.Paletted {
	colours := color.Palette{in.Palette[1], in.Palette[2]} // white and black
	reds := bytes.IndexByte(in.Pix, 3) >= 0
	if reds {
		colours = append(colours, in.Palette[3])
	}
	out := image.NewPaletted(in.Rect, colours)
	for i, c := range in.Pix {
		out.Pix[i] = max(c, 1) - 1 // The table is white.
	}
	return out
}

func encoded(t *testing.T, picture *image.Paletted) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// asReviewed compares with a file in testdata and shows where they part.
func asReviewed(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	if strings.HasSuffix(name, ".png") {
		t.Errorf("%s: %s; rewrite it with -update and look at both", path, dots(t, got, want))
		return
	}
	t.Errorf("%s differs; -update rewrites it\n%s", path, parted(string(got), string(want)))
}

// dots says how many dots of two pictures differ, and between which corners.
func dots(t *testing.T, got, want []byte) string {
	t.Helper()
	var both [2]*image.Paletted
	for i, raw := range [][]byte{got, want} {
		decoded, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		both[i] = decoded.(*image.Paletted)
	}
	if both[0].Rect != both[1].Rect {
		return fmt.Sprintf("%v dots, expected %v", both[0].Rect.Max, both[1].Rect.Max)
	}
	n, box := 0, image.Rectangle{}
	for y := range both[0].Rect.Dy() {
		for x := range both[0].Rect.Dx() {
			if both[0].At(x, y) != both[1].At(x, y) {
				n++
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return fmt.Sprintf("%d dots differ within %v", n, box)
}

// parted shows the first lines that differ, with their paper's heading.
func parted(got, want string) string {
	const shown = 12
	var out strings.Builder
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	heading, n := "", 0
	for i := range max(len(a), len(b)) {
		left, right := "", ""
		if i < len(a) {
			left = a[i]
		}
		if i < len(b) {
			right = b[i]
		}
		if strings.HasPrefix(left, "== ") {
			heading = left
		}
		if left == right {
			continue
		}
		if n == 0 {
			fmt.Fprintln(&out, heading)
		}
		if n++; n > shown {
			return out.String() + "…"
		}
		fmt.Fprintf(&out, "line %d\n  got  %s\n  want %s\n", i+1, left, right)
	}
	return out.String()
}
