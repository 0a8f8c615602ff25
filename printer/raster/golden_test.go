package raster

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/escpos"
)

var update = flag.Bool("update", false, "write testdata/*.png anew")

// goldens are lines as a kitchen's paper has them, in every way of writing that the fonts are for.
var goldens = []struct {
	name, text string
}{
	{"latin", "2x Žluťoučký kůň, ĳsbær, Phở bò đặc biệt, x̂ ẅ̃"},
	{"greek", "2x Χωριάτικη σαλάτα, ᾠὰ τηγανητά"},
	{"cyrillic", "2x Борщ із сметаною, Қазақ ет"},
	{"arabic", "2x بيتزا كبيرة (بدون بصل) مُعَلَّب 12:30 Cola لا"},
	{"persian-urdu", "۲ چلوکباب گوشت، پیاز نہیں ڈالیں"},
	{"hebrew", "2 × פִּיצָה גדולה (בלי בצל) 12:30 Cola"},
	{"thai", "2 น้ำปั่น ผู้ใหญ่ที่นี่ ไม่เผ็ด กุ้งเผาน้ำจิ้มซีฟู้ดรสแซ่บ"},
	{"devanagari", "2 पनीर टिक्का, श्री क्षत्रिय ज्ञान ट्रॉली र्क"},
	{"indic", "বাংলা ਪੰਜਾਬੀ ગુજરાતી தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල"},
	{"southeast", "ភាសាខ្មែរ ພາສາລາວ မြန်မာဘာသာ"},
	{"caucasus-ethiopic", "Հայերեն ქართული አማርኛ"},
	{"chinese", "2 宫保鸡丁，不要花生。龘"},
	{"japanese", "2 味噌ラーメン、ねぎ抜き"},
	{"korean", "2 김치찌개 (덜 맵게)"},
	{"emoji", "🍕 🌶️ 🥜 👨‍👩‍👧 ⚠️ 🇩🇪 ❤️ 👍🏽 1️⃣ ☕"},
	{"missing", "a\U000F1234b \u202E \x1b ⠿ ᚠᛇᚻ"},
}

func TestScriptsLookAsReviewed(t *testing.T) {
	drawer := New(Fonts{})
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			spans, grid := []document.Span{{Text: g.text}}, grid58
			grid.RightToLeft = strings.ContainsFunc(g.text, leftward)
			images, err := drawer.Line(document.Line{Spans: spans, Hang: 3}, grid)
			if err != nil {
				t.Fatal(err)
			}
			spans[0].Style = document.Style{Bold: true, Inverse: true}
			bold, err := drawer.Line(document.Line{Spans: spans, Hang: 3}, grid)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, g.name, append(images, bold...))
		})
	}
}

func TestStylesLookAsReviewed(t *testing.T) {
	var images []escpos.Image
	for _, style := range []document.Style{
		{Underline: true}, {Strike: true}, {Inverse: true, Strike: true},
		{Width: 2}, {Height: 2}, {Width: 2, Height: 2, Bold: true}, {Width: 3, Height: 3, Inverse: true},
	} {
		images = append(images, drawn(t, document.Text("3 ชา דג gß 茶", style), grid58)...)
	}
	compare(t, "styles", images)
}

// compare compares images below each other with a picture of testdata.
func compare(t *testing.T, name string, images []escpos.Image) {
	t.Helper()
	got := stack(images)
	path := filepath.Join("testdata", name+".png")
	if *update {
		var file bytes.Buffer
		if err := png.Encode(&file, got); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want, ok := decoded.(*image.Paletted)
	if !ok || want.Rect != got.Rect || !slices.Equal(want.Pix, got.Pix) {
		t.Errorf("it does not look like %s; where that is meant, run with -update and review", path)
	}
}

// stack is images below each other.
func stack(images []escpos.Image) *image.Paletted {
	height := 0
	for _, i := range images {
		height += i.HeightDots
	}
	out := image.NewPaletted(image.Rect(0, 0, images[0].WidthDots, height),
		color.Palette{color.White, color.Black})
	top := 0
	for _, i := range images {
		for y := range i.HeightDots {
			for x := range i.WidthDots {
				if black(i, x, y) {
					out.SetColorIndex(x, top+y, 1)
				}
			}
		}
		top += i.HeightDots
	}
	return out
}
