package service

import (
	"io"
	"os"

	"chit/printer/raster"
)

// systemFonts are read where the system has them, the first one found: Chinese, Japanese and Korean
// look better in them than in the fonts of the program, which are enough to be read. They are what
// Debian's fonts-noto-cjk installs; bold, because a thermal head thins strokes.
var systemFonts = []string{
	"/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc",
	"/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
}

// NewDrawer draws what no code page can spell. The font file is open for as long as the drawer
// lives, since glyphs are read when text first needs them.
func NewDrawer() *raster.Drawer {
	for _, path := range systemFonts {
		if f, err := os.Open(path); err == nil {
			return raster.New(raster.Fonts{Extra: []io.ReaderAt{f}})
		}
	}
	return raster.New(raster.Fonts{})
}
