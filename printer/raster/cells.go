package raster

import (
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// cellFont is a font of dots in cells.
//
// Its file is: height in dots, ascent in dots, number of blocks (2 bytes); for each block its
// number (the code point without its last 8 bits, 2 bytes) and where its data ends (4 bytes); the
// data. Numbers are big-endian. The data of a block, squeezed by itself (RFC 1951), is for each of
// its characters the last 8 bits of its code point, its advance, the place of its left edge
// (signed), its width, all in dots, and its rows, each in whole bytes. So a character costs one
// block of memory and not the font.
type cellFont struct {
	height, ascent int
	file           io.ReaderAt
	numbers        []uint16
	ends           []uint32
	start          int64
	blocks         map[uint16]map[byte]cell
}

// cell is one character's dots. Rows have (width+7)/8 bytes each; the most significant bit is the
// leftmost.
type cell struct {
	advance, left, width int
	rows                 []byte
}

// blocksMax bounds the blocks of one font that stay in memory, of at most 9 KB each.
const blocksMax = 24

var errCells = errors.New("damaged font of cells")

func openCells(file io.ReaderAt) (*cellFont, error) {
	head := make([]byte, 4)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("raster: reading a font of cells: %w", err)
	}
	f := &cellFont{
		height: int(head[0]), ascent: int(head[1]), file: file, blocks: map[uint16]map[byte]cell{},
	}
	n := int(binary.BigEndian.Uint16(head[2:]))
	index := make([]byte, 6*n)
	if _, err := file.ReadAt(index, 4); err != nil {
		return nil, fmt.Errorf("raster: reading a font of cells: %w", err)
	}
	f.start = int64(4 + len(index))
	for ; len(index) > 0; index = index[6:] {
		f.numbers = append(f.numbers, binary.BigEndian.Uint16(index))
		f.ends = append(f.ends, binary.BigEndian.Uint32(index[2:]))
	}
	return f, nil
}

// cell returns the dots of r.
func (f *cellFont) cell(r rune) (cell, bool) {
	number := uint16(r >> 8)
	block, ok := f.blocks[number]
	if !ok {
		block = f.read(number)
		if len(f.blocks) >= blocksMax {
			clear(f.blocks)
		}
		f.blocks[number] = block
	}
	c, ok := block[byte(r)]
	return c, ok
}

// read unpacks a block; a font without it has an empty one.
func (f *cellFont) read(number uint16) map[byte]cell {
	at, ok := slices.BinarySearch(f.numbers, number)
	if !ok {
		return nil
	}
	begin := int64(0)
	if at > 0 {
		begin = int64(f.ends[at-1])
	}
	section := io.NewSectionReader(f.file, f.start+begin, int64(f.ends[at])-begin)
	data, err := io.ReadAll(flate.NewReader(section))
	if err != nil {
		panic(fmt.Sprintf("raster: block %X of a font in this program: %v", number, err))
	}
	block := map[byte]cell{}
	for len(data) > 0 {
		c, rest, err := f.next(data)
		if err != nil {
			panic(fmt.Sprintf("raster: block %X of a font in this program: %v", number, err))
		}
		block[data[0]] = c
		data = rest
	}
	return block
}

func (f *cellFont) next(data []byte) (cell, []byte, error) {
	if len(data) < 4 {
		return cell{}, nil, errCells
	}
	c := cell{advance: int(data[1]), left: int(int8(data[2])), width: int(data[3])}
	size := 4 + (c.width+7)/8*f.height
	if len(data) < size {
		return cell{}, nil, errCells
	}
	c.rows = data[4:size:size]
	return c, data[size:], nil
}

func (c cell) dot(x, y int) bool {
	size := (c.width + 7) / 8
	return x >= 0 && x < c.width && y >= 0 && y*size < len(c.rows) &&
		c.rows[y*size+x/8]&(0x80>>(x%8)) != 0
}

func (c cell) blank() bool {
	return !slices.ContainsFunc(c.rows, func(b byte) bool { return b != 0 })
}
