package raster

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"chit/printer/document"
	"chit/printer/escpos"
)

// readings are texts of a kitchen's paper, the language data that tesseract reads them with, and
// the least share of characters that it must read right, in percent, plain and in bold.
// BENCHMARKS.md has the shares measured; they are a little above.
var readings = []struct {
	script, language string
	least, leastBold float64
	text             string
}{
	{"Latin", "eng+deu", 96, 96, `
Kitchen Grill, order Anna
Margherita with extra cheese
Grilled salmon without butter
No onions, no garlic, please
Zwei große Schnitzel mit Pommes
Süßkartoffeln ohne Knoblauch
Allergie: Nüsse und Sellerie`},
	{"Greek", "ell", 90, 90, `
Χωριάτικη σαλάτα χωρίς κρεμμύδι
Μουσακάς με κεφτεδάκια και ρύζι
Αλλεργία σε ξηρούς καρπούς
Παραγγελία για το τραπέζι
Χταπόδι στα κάρβουνα με λάδι`},
	{"Cyrillic", "rus+ukr", 95, 95, `
Борщ со сметаной без чеснока
Пельмени домашние с маслом
Аллергия на орехи и рыбу
Вареники з картоплею та грибами
Котлета по-київськи без цибулі`},
	{"Arabic", "ara", 97, 90, `
بيتزا كبيرة بدون بصل
دجاج مشوي مع الأرز
حساسية من المكسرات والسمك
سلطة خضراء مع الليمون
شوربة عدس ساخنة جدا`},
	{"Hebrew", "heb", 97, 97, `
פיצה גדולה בלי בצל
עוף צלוי עם אורז לבן
אלרגיה לאגוזים ולדגים
סלט ירוק עם לימון טרי
מרק עדשים חם מאוד`},
	{"Thai", "tha", 95, 95, `
ผัดไทยกุ้งสดไม่เผ็ด
ต้มยำกุ้งไม่ใส่ผักชี
ข้าวผัดหมูใส่ไข่ดาว
แพ้ถั่วลิสงและอาหารทะเล
แกงเขียวหวานไก่เผ็ดน้อย`},
	{"Devanagari", "hin", 97, 97, `
पनीर टिक्का मसाला बिना प्याज
दाल मखनी और तंदूरी रोटी
मूंगफली और दूध से एलर्जी
मिर्च कम और नमक ज्यादा
चिकन बिरयानी गरम परोसें`},
	{"Chinese", "chi_sim", 90, 90, chineseText},
	{"Chinese, last resort", "chi_sim", 75, 75, chineseText},
	{"Chinese, system's font", "chi_sim", 90, 90, chineseText},
}

const chineseText = `
宫保鸡丁不要花生
麻婆豆腐微辣少油
青椒牛肉盖浇饭
对坚果和海鲜过敏
西红柿炒鸡蛋加米饭`

// magnify is an image's part with ink, each dot two by two, in a white border, as a scanner of
// 400 dots an inch would see it.
func magnify(i escpos.Image) *image.Gray {
	const times, border = 2, 40
	from, to := ink(i)
	out := image.NewGray(image.Rect(0, 0, (to-from)*times+2*border, i.HeightDots*times+2*border))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			dotX, dotY := from+(x-border)/times, (y-border)/times
			inside := x >= border && y >= border && dotX < to && dotY < i.HeightDots
			if !inside || !black(i, dotX, dotY) {
				out.SetGray(x, y, color.Gray{255})
			}
		}
	}
	return out
}

// read is what tesseract reads on pictures of one line each.
func read(t *testing.T, images []escpos.Image, language string) []string {
	t.Helper()
	var names []string
	for n, i := range images {
		var file bytes.Buffer
		if err := png.Encode(&file, magnify(i)); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(t.TempDir(), fmt.Sprintf("%d.png", n)))
		if err := os.WriteFile(names[n], file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := tesseract(t, names, language, singleLine)
	for n, line := range lines {
		// Its analysis of a page sees no text on some pictures of Arabic; told that all is text, it
		// reads them.
		if strings.TrimSpace(line) == "" {
			lines[n] = tesseract(t, names[n:n+1], language, rawLine)[0]
		}
	}
	return lines
}

// Page segmentation modes of tesseract.
const (
	singleLine = "7"
	rawLine    = "13"
)

// tesseract returns the text of each picture.
func tesseract(t *testing.T, names []string, language, mode string) []string {
	t.Helper()
	list := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(list, []byte(strings.Join(names, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tesseract", list, "-", "-l", language, "--psm", mode)
	// One thread: the test shares its machine.
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tesseract: %v\n%s", err, stderr.String())
	}
	pages := strings.Split(strings.TrimSuffix(string(out), "\f"), "\f")
	if len(pages) == len(names) {
		return pages
	}
	// It leaves out pages that it finds empty and does not say which.
	pages = nil
	for _, name := range names {
		pages = append(pages, tesseract(t, []string{name}, language, mode)...)
	}
	return pages
}

// accuracy is the share of want's characters that got has right, in percent: 100 less the edit
// distance. Spaces and line breaks count as one space each; spaces between Chinese characters,
// which tesseract makes up, as none.
func accuracy(want, got string, spaces bool) float64 {
	separator := " "
	if !spaces {
		separator = ""
	}
	clean := func(s string) []rune {
		s = strings.NewReplacer("\u200E", "", "\u200F", "", "\u202B", "", "\u202C", "").Replace(s)
		return []rune(norm.NFKC.String(strings.Join(strings.Fields(s), separator)))
	}
	a, b := clean(want), clean(got)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return 100 * (1 - float64(row[len(b)])/float64(len(a)))
}

// noto is where Debian's fonts-noto-cjk has the font that chitd takes.
const noto = "/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc"

// drawers are drawers with the fonts of the program, without its Chinese ones, and with the
// system's.
func drawers(t *testing.T) (own, lastResort, system *Drawer) {
	t.Helper()
	own, lastResort = New(Fonts{}), New(Fonts{})
	lastResort.library.han = &wideFont{file: strings.NewReader("")}
	file, err := os.Open(noto)
	if err != nil {
		t.Fatalf("%v: Debian's fonts-noto-cjk has it; .ci/prepare installs it", err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return own, lastResort, New(Fonts{Extra: []io.ReaderAt{file}})
}

func TestAnotherProgramReadsWhatWasDrawn(t *testing.T) {
	own, lastResort, system := drawers(t)
	for _, r := range readings {
		t.Run(r.script, func(t *testing.T) {
			drawer := own
			switch r.script {
			case "Chinese, last resort":
				drawer = lastResort
			case "Chinese, system's font":
				drawer = system
			}
			want := strings.TrimSpace(r.text)
			lines := strings.Split(want, "\n")
			var images []escpos.Image
			for _, bold := range []bool{false, true} {
				for _, line := range lines {
					line := document.Text(line, document.Style{Bold: bold})
					drawn, err := drawer.Line(line, grid80)
					if err != nil {
						t.Fatal(err)
					}
					images = append(images, drawn...)
				}
			}
			got := read(t, images, r.language)
			judge := func(weight string, got []string, least float64) {
				t.Helper()
				text := strings.Join(got, "\n")
				share := accuracy(want, text, r.language != "chi_sim")
				t.Logf("%s, %s: %.1f %%", r.script, weight, share)
				if share < least {
					t.Errorf("%s: %.1f %% read right, expected %.0f %%; wanted\n%s\ngot\n%s",
						weight, share, least, want, text)
				}
			}
			judge("plain", got[:len(lines)], r.least)
			judge("bold", got[len(lines):], r.leastBold)
		})
	}
}
