package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"chit/config"
	"chit/device/layout"
	"chit/device/wire"
	"chit/printer/document"
)

// templateFile is what a template's TOML file says; device/layout/examples has some.
type templateFile struct {
	Blocks []string `toml:"blocks" comment:"Parts of the paper from top to bottom; empty: all in their usual order."`
	Hide   []string `toml:"hide" comment:"Single facts to leave out: type, table, guests, due, placed, printed."`

	Station sizedBlock `toml:"station"`
	Kind    sizedBlock `toml:"kind"`
	Order   orderBlock `toml:"order"`
	Items   itemsBlock `toml:"items"`
	QR      qrBlock    `toml:"qr"`
}

type sizedBlock struct {
	Size int `toml:"size" default:"0" comment:"1 to 4 times as large as plain text; 0: the usual size."`
}

type orderBlock struct {
	Size  int    `toml:"size" default:"0" comment:"1 to 4 times as large as plain text; 0: as large as fits."`
	Align string `toml:"align" default:"centre" comment:"left or centre."`
}

type itemsBlock struct {
	Size string `toml:"size" comment:"normal, large or huge; empty: as the device's configuration says."`
}

type qrBlock struct {
	Module int `toml:"module" default:"0" comment:"Dots of one module, 2 to 8; 0: the usual 4."`
}

// Validate names the first key that makes no template.
func (f templateFile) Validate() error {
	_, err := f.template()
	return err
}

func (f templateFile) template() (layout.Template, error) {
	var t layout.Template
	for _, b := range f.Blocks {
		t.Blocks = append(t.Blocks, layout.Block(b))
	}
	for _, name := range f.Hide {
		t.Hidden = append(t.Hidden, layout.Fact(name))
	}
	for _, s := range []struct {
		key  string
		size int
		into *document.Size
	}{
		{"station.size", f.Station.Size, &t.StationSize}, {"kind.size", f.Kind.Size, &t.KindSize},
		{"order.size", f.Order.Size, &t.OrderSize},
	} {
		if s.size < 0 || s.size > 4 {
			return t, config.Field(s.key, "found %d, expected 1 to 4, or 0", s.size)
		}
		*s.into = document.Size(s.size)
	}
	switch f.Order.Align {
	case "centre":
	case "left":
		t.OrderLeft = true
	default:
		return t, config.Field("order.align", "found %q, expected left or centre", f.Order.Align)
	}
	if f.Items.Size != "" {
		size, err := layout.ParseSize(f.Items.Size)
		if err != nil {
			return t, config.Field("items.size", "%v", err)
		}
		t.ItemSize = &size
	}
	t.QRModule = f.QR.Module
	var wrong *layout.TemplateError
	if err := t.Check(); errors.As(err, &wrong) {
		return t, config.Field(wrong.Key, "%s", wrong.Problem)
	}
	return t, nil
}

// LoadTemplate reads a template for tickets. Every mistake is an error that names the line, what
// was found and what was expected: an unknown key, an unknown block, and a block left out without
// which food is made wrong.
func LoadTemplate(path string) (layout.Template, error) {
	f := templateFile{}
	if err := config.Load(path, &f, ""); err != nil {
		return layout.Template{}, err
	}
	return f.template()
}

// templatesMax is how many stations a folder of templates may be for.
const templatesMax = 256

// loadTemplates reads a folder of templates, each named after its station: grill.toml.
func loadTemplates(folder string) (map[string]layout.Template, error) {
	all := map[string]layout.Template{}
	if folder == "" {
		return all, nil
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, config.Field("templates", "%v", err)
	}
	for _, file := range files {
		station, ok := strings.CutSuffix(file.Name(), ".toml")
		if !ok || file.IsDir() {
			continue
		}
		path := filepath.Join(folder, file.Name())
		if err := wire.CheckID(station); err != nil {
			return nil, config.Field("templates", "%s is named after no station: %v", path, err)
		}
		if all[station], err = LoadTemplate(path); err != nil {
			return nil, fmt.Errorf("templates: %w", err)
		}
		if len(all) > templatesMax {
			return nil, config.Field("templates", "%s holds more than %d templates", folder, templatesMax)
		}
	}
	return all, nil
}
