package virtual

import (
	"bytes"
	"testing"
)

func TestStoredGraphicsArePrintedOnceWhenAskedFor(t *testing.T) {
	b := newBench(t, config())
	const rows = "\x1d8L\x0c\x00\x00\x000p0\x01\x021\x09\x00\x01\x00\xff\x80" // 9 dots, twice as high
	b.send(rows)
	if b.p.Hanging() {
		t.Fatal("printed before it was asked for")
	}
	b.send("\x1d(L\x02\x0002")
	images := b.p.Pending().Images
	if len(images) != 1 || images[0].Width != 9 || images[0].ScaleY != 2 ||
		!bytes.Equal(images[0].Bits, []byte{0xff, 0x80}) || len(b.p.Errors()) != 0 {
		t.Fatalf("images %+v, errors %v", images, b.p.Errors())
	}
	b.send("\x1d(L\x02\x0002")
	if len(b.p.Errors()) != 1 {
		t.Fatalf("nothing was stored any more, and nobody said so: %v", b.p.Errors())
	}
}

func TestGraphicsByColumnsAreTheSameDotsAsByRows(t *testing.T) {
	// An L, 3 dots wide and 9 high, by columns of two bytes.
	const columns = "\x1d(L\x10\x000q0\x01\x011\x03\x00\x09\x00" + "\xff\x80\x00\x80\x00\x80"
	b := newBench(t, config())
	b.send(columns + "\x1d(L\x02\x000\x02")
	images := b.p.Pending().Images
	want := []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xe0}
	if len(images) != 1 || !bytes.Equal(images[0].Bits, want) || len(b.p.Errors()) != 0 {
		t.Fatalf("images %+v, errors %v", images, b.p.Errors())
	}
}

func TestTwoColoursOfOneImageLieOnEachOther(t *testing.T) {
	const black, red = "\x1d(L\x0b\x000p0\x01\x011\x08\x00\x01\x00\xf0",
		"\x1d(L\x0b\x000p0\x01\x012\x08\x00\x01\x00\x0f"
	c := config()
	c.Can.Red = true
	b := newBench(t, c)
	b.send(black + red + "\x1d(L\x02\x0002")
	images := b.p.Pending().Images
	if len(images) != 2 || images[0].Red || !images[1].Red || images[0].Y != images[1].Y {
		t.Fatalf("images %+v, errors %v", images, b.p.Errors())
	}
	b = newBench(t, config())
	b.send(red)
	if len(b.p.Errors()) != 1 {
		t.Fatalf("a printer of one colour took a second: %v", b.p.Errors())
	}
}
