package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

// example is a request that uses every field; edit replaces text in it.
const example = `{"id":"web-41/2","kitchen":"main","station":"grill","kind":"change","order":"Anna",
"type":"take-away","table":"7","guests":2,"placed_at":"2026-03-01T18:00:00+01:00",
"due_at":"2026-03-01T18:30:00.5Z","release_at":"2026-03-01T18:10:00Z",
"customer":{"name":"Anna Ö","phone":"+49 30 1"},
"items":[{"quantity":2,"name":"Margherita","modifiers":["no basil","extra €"],"note":"hot!",
"allergens":["milk"],"course":"1","seat":"A"}],"note":"ring twice"}`

func edit(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(example) }

// minimal is the smallest request of a kind, with more members behind it.
func minimal(kind, more string) string {
	return fmt.Sprintf(`{"id":"1/1","kitchen":"main","station":"bar","kind":%q%s}`, kind, more)
}

const oneItem = `,"items":[{"quantity":1,"name":"Tea"}]`

// requests is judged by the validator here and by the schema in TestSchemaAndValidatorAgree. fields
// are the paths that must be named; none means a good request. beyond marks what no schema can say.
var requests = []struct {
	name   string
	raw    string
	fields []string
	beyond bool
}{
	{name: "every field", raw: example},
	{name: "new", raw: minimal("new", oneItem)},
	{name: "change", raw: minimal("change", oneItem)},
	{name: "void without items", raw: minimal("void", "")},
	{name: "void with an empty array", raw: minimal("void", `,"items":[]`)},
	{name: "void with items", raw: minimal("void", oneItem)},
	{name: "notice", raw: minimal("notice", `,"note":"Bar closes"`)},
	{name: "empty texts and arrays", raw: minimal("new", `,"note":"","table":"","items":[{"quantity":1,
		"name":"Tea","note":"","modifiers":[],"allergens":[]}],"customer":{}`)},
	{name: "integer in another spelling", raw: edit(`"guests":2`, `"guests":2.0`)},
	{name: "integer with an exponent", raw: edit(`"guests":2`, `"guests":2e0`)},
	{name: "longest name of wide runes", raw: edit("Margherita", strings.Repeat("😀", NameMax))},
	{name: "control characters as escapes", raw: edit("hot!", `a\nb\u0000\u001b`)},

	{name: "no object", raw: `[]`, fields: []string{""}},
	{name: "null", raw: `null`, fields: []string{""}},
	{name: "nothing in it", raw: `{}`, fields: []string{"id", "kitchen", "station", "kind"}},
	{name: "unknown field", raw: minimal("void", `,"colour":"red"`), fields: []string{"colour"}},
	{name: "field in upper case", raw: edit(`"guests"`, `"Guests"`), fields: []string{"Guests"}},
	{name: "unknown item field", raw: edit(`"seat"`, `"chair"`), fields: []string{"items[0].chair"}},
	{name: "unknown customer field", raw: edit(`"phone"`, `"fax"`), fields: []string{"customer.fax"}},
	{name: "id without seq", raw: edit("web-41/2", "web-41"), fields: []string{"id"}},
	{name: "order of one dot", raw: edit("web-41/2", "./2"), fields: []string{"id"}},
	{name: "order of two dots", raw: edit("web-41/2", "../2"), fields: []string{"id"}},
	{name: "order of three dots", raw: edit("web-41/2", ".../2")},
	{name: "order that begins with dots", raw: edit("web-41/2", "..a/2")},
	{name: "id with seq 0", raw: edit("web-41/2", "web-41/0"), fields: []string{"id"}},
	{name: "id with a space", raw: edit("web-41/2", "web 41/2"), fields: []string{"id"}},
	{name: "id made by the broker", raw: edit("web-41/2", "web-41/2/r1"), fields: []string{"id"}},
	{name: "kitchen in upper case", raw: edit(`"main"`, `"Main"`), fields: []string{"kitchen"}},
	{name: "reserved station", raw: edit(`"grill"`, `"feed"`), fields: []string{"station"}},
	{name: "kind of the broker", raw: edit(`"change"`, `"reprint"`), fields: []string{"kind"}},
	{name: "kind of nobody", raw: edit(`"change"`, `"new "`), fields: []string{"kind"}},
	{name: "type", raw: edit("take-away", "takeaway"), fields: []string{"type"}},
	{name: "order is a number", raw: edit(`"Anna"`, `41`), fields: []string{"order"}},
	{name: "null is not absent", raw: edit(`"7"`, `null`), fields: []string{"table"}},
	{name: "guests as text", raw: edit(`"guests":2`, `"guests":"2"`), fields: []string{"guests"}},
	{name: "guests 0", raw: edit(`"guests":2`, `"guests":0`), fields: []string{"guests"}},
	{name: "guests 1000", raw: edit(`"guests":2`, `"guests":1000`), fields: []string{"guests"}},
	{name: "guests and a half", raw: edit(`"guests":2`, `"guests":2.5`), fields: []string{"guests"}},
	{name: "guests over 2^53", raw: edit(`"guests":2`, `"guests":9007199254740993`),
		fields: []string{"guests"}},
	{name: "guests negative", raw: edit(`"guests":2`, `"guests":-1`), fields: []string{"guests"}},
	{name: "instant without zone", raw: edit("18:00:00+01:00", "18:00:00"),
		fields: []string{"placed_at"}},
	{name: "instant in another century", raw: edit("2026-03-01T18:10", "1970-03-01T18:10"),
		fields: []string{"release_at"}},
	{name: "instant with a comma", raw: edit("18:30:00.5Z", "18:30:00,5Z"),
		fields: []string{"due_at"}},
	{name: "instant on 30 February", raw: edit("2026-03-01T18:10", "2026-02-30T18:10"),
		fields: []string{"release_at"}},
	{name: "items is an object", raw: minimal("void", `,"items":{}`), fields: []string{"items"}},
	{name: "new without items", raw: minimal("new", ""), fields: []string{"items"}},
	{name: "change with an empty array", raw: minimal("change", `,"items":[]`),
		fields: []string{"items"}},
	{name: "notice without note", raw: minimal("notice", oneItem), fields: []string{"note"}},
	{name: "notice of spaces", raw: minimal("notice", `,"note":" \t\n"`), fields: []string{"note"}},
	{name: "quantity 0", raw: edit(`"quantity":2`, `"quantity":0`),
		fields: []string{"items[0].quantity"}},
	{name: "item without name and quantity", raw: minimal("new", `,"items":[{}]`),
		fields: []string{"items[0].quantity", "items[0].name"}},
	{name: "item of spaces", raw: edit("Margherita", "  "), fields: []string{"items[0].name"}},
	{name: "item is a text", raw: minimal("new", `,"items":["Tea"]`), fields: []string{"items[0]"}},
	{name: "name too long", raw: edit("Margherita", strings.Repeat("é", NameMax+1)),
		fields: []string{"items[0].name"}},
	{name: "modifier is a number", raw: edit(`"extra €"`, `1`),
		fields: []string{"items[0].modifiers[1]"}},
	{name: "empty modifier", raw: edit(`"extra €"`, `""`), fields: []string{"items[0].modifiers[1]"}},
	{name: "allergen is null", raw: edit(`"milk"`, `null`), fields: []string{"items[0].allergens[0]"}},
	{name: "too many items", raw: minimal("new", `,"items":[`+strings.Repeat(
		`{"quantity":1,"name":"T"},`, ItemsMax)+`{"quantity":1,"name":"T"}]`), fields: []string{"items"}},
	{name: "several at once", raw: edit(`"guests":2`, `"guests":0`, `"milk"`, `7`, "take-away", "x"),
		fields: []string{"type", "guests", "items[0].allergens[0]"}},

	{name: "a name twice", raw: minimal("void", `,"note":"a","note":"a"`), fields: []string{"note"},
		beyond: true},
	{name: "a name twice in an item", raw: edit(`"seat"`, `"course"`),
		fields: []string{"items[0].course"}, beyond: true},
	{name: "lone surrogate", raw: edit("hot!", `\ud83d`), fields: []string{"items[0].note"},
		beyond: true},
	{name: "not UTF-8", raw: edit("ring", "r\xffng"), fields: []string{"note"}, beyond: true},
}

func TestRequestsAreJudgedFieldByField(t *testing.T) {
	for _, c := range requests {
		t.Run(c.name, func(t *testing.T) {
			data, _, err := Canonical([]byte(c.raw))
			if len(c.fields) == 0 {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			var wrong *ContentError
			if !errors.As(err, &wrong) || data != nil {
				t.Fatalf("got %s, %v; want a ContentError", data, err)
			}
			var fields []string
			for _, f := range wrong.Fields {
				fields = append(fields, f.Field)
				if f.Found == "" || f.Want == "" {
					t.Errorf("%s: found %q, want %q: both must be said", f.Field, f.Found, f.Want)
				}
			}
			for _, want := range c.fields {
				if !slices.Contains(fields, want) {
					t.Errorf("%q is not among the fields named, %q", want, fields)
				}
			}
			if c.name == "several at once" && len(fields) != len(c.fields) {
				t.Errorf("named %q, want %q", fields, c.fields)
			}
		})
	}
}

func TestExactBytesSayWhatWasSaidAndNothingElse(t *testing.T) {
	raw := ` {"station" : "bar", "note": "a\/b \u00e9 \u20AC \"\u0007", "kitchen":"main",
		"id":"1/1","guests":2.0, "kind":"void", "items":[] } `
	want := `{"guests":2,"id":"1/1","items":[],"kind":"void","kitchen":"main",` +
		`"note":"a/b é € \"\u0007","station":"bar"}`
	data, c, err := Canonical([]byte(raw))
	if err != nil || string(data) != want {
		t.Fatalf("got %s, %v; want %s", data, err, want)
	}
	if c.Guests != 2 || c.Note != "a/b é € \"\a" || c.Kind != KindVoid || c.Customer != nil {
		t.Errorf("content %+v", c)
	}
	if got := Digest(nil); got != "sha256:"+
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("digest of nothing is %s", got)
	}
	digest := Digest(data)
	if !checkDigest(digest) || checkDigest(strings.ToUpper(digest)) || checkDigest(digest[:70]) {
		t.Error("checkDigest does not know the form of a digest")
	}
}

func TestRequestsOverTheSizeAreRefused(t *testing.T) {
	pad := func(n int) []byte {
		raw := minimal("void", `,"note":""`)
		return []byte(raw + strings.Repeat(" ", n-len(raw)))
	}
	if _, _, err := Canonical(pad(ContentMax)); err != nil {
		t.Errorf("%d bytes: %v", ContentMax, err)
	}
	if _, _, err := Canonical(pad(ContentMax + 1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes: %v, want ErrTooLarge", ContentMax+1, err)
	}
	if _, err := ParseContent(pad(ContentMax + 1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("ParseContent of %d bytes: %v, want ErrTooLarge", ContentMax+1, err)
	}
	if _, _, err := Canonical([]byte(`{"id":`)); !errors.Is(err, ErrMalformed) {
		t.Errorf("half a request: %v, want ErrMalformed", err)
	}
}

func TestErrorsNeverQuoteTheGuest(t *testing.T) {
	raw := edit(`"Anna Ö"`, `["Anna Secret"]`, "take-away", "Secret", "+49 30 1",
		strings.Repeat("Secret", 20))
	_, _, err := Canonical([]byte(raw))
	if err == nil || strings.Contains(err.Error(), "Secret") {
		t.Errorf("%v, want an error without Secret", err)
	}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, `,"f%d":0`, i)
	}
	var wrong *ContentError
	if _, _, err := Canonical([]byte(minimal("void", many.String()))); !errors.As(err, &wrong) ||
		len(wrong.Fields) != errorsMax {
		t.Errorf("want %d fields named, not more", errorsMax)
	}
}

func TestDataOfANewerMinorVersionIsStillRead(t *testing.T) {
	c, err := ParseContent([]byte(minimal("reprint", `,"mood":"good","items":[{"quantity":1,"name":"T",
		"sku":7}]`)))
	if err != nil || c.Kind != KindReprint || len(c.Items) != 1 || c.Items[0].Name != "T" {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, bad := range []string{`{}`, `x`, minimal("new", ""), minimal("void", `,"note":"\ud800"`)} {
		if _, err := ParseContent([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// drawContent draws from the tickets that a program may make.
func drawContent(t *rapid.T) Content {
	text := func(max int, name string) string {
		return rapid.StringN(0, max, -1).Draw(t, name)
	}
	item := rapid.Custom(func(t *rapid.T) Item {
		short := rapid.StringN(0, ShortMax, -1)
		return Item{
			Quantity:  rapid.IntRange(1, QuantityMax).Draw(t, "quantity"),
			Name:      "x" + rapid.StringN(0, 40, -1).Draw(t, "name"),
			Modifiers: rapid.SliceOfN(rapid.StringMatching(`[a-zé€😀"\\]{1,9}`), 0, 3).Draw(t, "mods"),
			Note:      short.Draw(t, "note"),
			Allergens: rapid.SliceOfN(rapid.Just("milk"), 0, 2).Draw(t, "allergens"),
			Course:    short.Draw(t, "course"),
			Seat:      short.Draw(t, "seat"),
		}
	})
	id := drawTicketID(t)
	c := Content{
		ID: id.Content(), Kitchen: "main", Station: id.Station,
		Kind:  rapid.SampledFrom([]Kind{KindNew, KindChange, KindVoid, KindNotice}).Draw(t, "kind"),
		Order: text(ShortMax, "order"), Table: text(ShortMax, "table"),
		Guests:   rapid.IntRange(0, GuestsMax).Draw(t, "guests"),
		DueAt:    rapid.SampledFrom([]string{"", "2026-03-01T18:30:00Z"}).Draw(t, "due"),
		Items:    rapid.SliceOfN(item, 1, 4).Draw(t, "items"),
		Note:     "n" + text(60, "note"),
		Type:     rapid.SampledFrom([]string{"", "dine-in", "delivery"}).Draw(t, "type"),
		PlacedAt: "2026-03-01T18:00:00+01:00",
	}
	if rapid.Bool().Draw(t, "customer") {
		c.Customer = &Customer{Name: text(ShortMax, "guest")}
	}
	return c
}

func TestExactBytesOfExactBytesAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawContent(t)
		data, err := CanonicalContent(c)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		again, read, err := Canonical(data)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("second time %s, %v; first %s", again, err, data)
		}
		parsed, err := ParseContent(data)
		if err != nil || !reflect.DeepEqual(parsed, read) {
			t.Fatalf("ParseContent = %+v, %v; Canonical = %+v", parsed, err, read)
		}
		// White space and the order of members are no part of what was said.
		var loose bytes.Buffer
		if err := json.Indent(&loose, data, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if spread, _, err := Canonical(loose.Bytes()); err != nil || !bytes.Equal(spread, data) {
			t.Fatalf("spread out %s, %v; want %s", spread, err, data)
		}
	})
}

func TestTheCanonicalizerObeysRFC8785(t *testing.T) {
	for hex, want := range map[uint64]string{ // RFC 8785 appendix B, the finite samples.
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324", 0x7fefffffffffffff: "1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000", 0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001", 0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334", 0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		if got, err := jcs.NumberToJSON(math.Float64frombits(hex)); err != nil || got != want {
			t.Errorf("%016x = %s, %v; want %s", hex, got, err, want)
		}
	}
	for in, want := range map[string]string{
		// Section 3.2.2, Figure 1 and its result in section 3.2.3.
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
		"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`: `{` +
			`"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
			`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		// Section 3.2.3: names sort by UTF-16 code units, so U+1F600 comes before U+FB33.
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
		"1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control",
		"\u00f6":"Latin Small Letter O With Diaeresis"}`: "{\"\\r\":\"Carriage Return\",\"1\":\"One\"," +
			"\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\"," +
			"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\"," +
			"\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		`"\u0000\b\t\n\f\r\u001f\u007f\u2028<>&"`: "\"\\u0000\\b\\t\\n\\f\\r\\u001f\x7f\u2028<>&\"",
	} {
		if got, err := jcs.Transform([]byte(in)); err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, c := range requests {
		f.Add([]byte(c.raw))
	}
	f.Add([]byte(`{"id":"1/1","id":"1/1"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, c, err := Canonical(raw)
		if err != nil {
			if r := Reason(err); r != "malformed" && r != "too_large" && r != "claims" {
				t.Fatalf("refused for the reason %q: %v", r, err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("accepted what is not JSON: %q", raw)
		}
		again, _, err := Canonical(data)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("second time %q, %v; first %q", again, err, data)
		}
		parsed, err := ParseContent(data)
		if err != nil || !reflect.DeepEqual(parsed, c) {
			t.Fatalf("ParseContent = %+v, %v; Canonical = %+v", parsed, err, c)
		}
	})
}

func TestAnInstantOfAnotherCenturyIsToldWhichOnesThereAre(t *testing.T) {
	_, _, err := Canonical([]byte(minimal("void", `,"due_at":"1999-12-31T23:59:59Z"`)))
	var wrong *ContentError
	if !errors.As(err, &wrong) || !strings.Contains(wrong.Fields[0].Want, "2000 to 2199") {
		t.Errorf("got %v, want the years that are taken", err)
	}
}
