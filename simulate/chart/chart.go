// Package chart draws curves over time as a small PNG: two scales, labelled axes, a legend.
//
//	c := chart.Chart{Title: "Storm", X: "minutes", Left: "devices", Right: "a second",
//		Curves: []chart.Curve{{Name: "present", Color: chart.Blue, Values: values}}}
//	err := c.Write(file)
package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// Size of the picture and of the margins around the curves, in pixels.
const (
	Width, Height = 960, 480
	left, right   = 72, 72
	top, bottom   = 64, 52
)

// Colours that stay apart for the colour-blind (Okabe and Ito).
var (
	Blue   = color.RGBA{0, 114, 178, 255}
	Orange = color.RGBA{213, 94, 0, 255}
	Green  = color.RGBA{0, 158, 115, 255}
	Grey   = color.RGBA{120, 120, 120, 255}

	ink   = color.RGBA{40, 40, 40, 255}
	faint = color.RGBA{228, 228, 228, 255}
)

// Curve is one line.
type Curve struct {
	Name   string
	Color  color.RGBA
	Right  bool // measured by the right scale
	Dashed bool
	Values []float64
}

// Mark is an instant with a name.
type Mark struct {
	At   float64 // as the x-axis counts
	Name string
}

// Chart is a picture. The values of all curves belong to From, From+Step and so on.
type Chart struct {
	Title, X, Left, Right string
	From, Step            float64
	Marks                 []Mark
	Curves                []Curve
}

// Write draws the chart as a PNG.
func (c Chart) Write(w io.Writer) error {
	img := image.NewRGBA(image.Rect(0, 0, Width, Height))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	p := pen{img}
	to := c.From + c.Step*float64(max(1, c.longest()-1))
	x := scale{c.From, to, left, Width - right}
	scales := [2]scale{c.scale(false), c.scale(true)}
	p.text(left, 22, c.Title, ink)
	c.grid(p, x, scales)
	for _, m := range c.Marks {
		at := x.of(m.At)
		p.line(at, top, at, Height-bottom, Grey, 1, true)
		p.text(at+4, top+12, m.Name, Grey)
	}
	for _, curve := range c.Curves {
		s := scales[0]
		if curve.Right {
			s = scales[1]
		}
		for i := 1; i < len(curve.Values); i++ {
			if curve.Dashed && i%8 >= 4 {
				continue
			}
			p.line(x.of(c.From+c.Step*float64(i-1)), s.of(curve.Values[i-1]),
				x.of(c.From+c.Step*float64(i)), s.of(curve.Values[i]), curve.Color, 2, false)
		}
	}
	c.legend(p)
	if err := png.Encode(w, img); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	return nil
}

func (c Chart) longest() int {
	n := 0
	for _, curve := range c.Curves {
		n = max(n, len(curve.Values))
	}
	return n
}

// scale covers the curves of one side, from 0.
func (c Chart) scale(right bool) scale {
	most := 0.0
	for _, curve := range c.Curves {
		if curve.Right == right {
			for _, v := range curve.Values {
				most = max(most, v)
			}
		}
	}
	step := stride(max(most, 1))
	return scale{0, step * math.Ceil(max(most, 1)*1.02/step), Height - bottom, top}
}

func (c Chart) grid(p pen, x scale, scales [2]scale) {
	for _, v := range scales[0].ticks() {
		y := scales[0].of(v)
		p.line(left, y, Width-right, y, faint, 1, false)
		label := number(v)
		p.text(left-8-p.width(label), y+4, label, ink)
	}
	if c.Right != "" {
		for _, v := range scales[1].ticks() {
			y := scales[1].of(v)
			p.line(Width-right, y, Width-right+5, y, ink, 1, false)
			p.text(Width-right+9, y+4, number(v), ink)
		}
		p.line(Width-right, top, Width-right, Height-bottom, ink, 1, false)
		p.text(Width-8-p.width(c.Right), top-10, c.Right, ink)
	}
	for _, v := range x.ticks() {
		at, label := x.of(v), number(v)
		p.line(at, Height-bottom, at, Height-bottom+5, ink, 1, false)
		p.text(at-p.width(label)/2, Height-bottom+19, label, ink)
	}
	p.line(left, top, left, Height-bottom, ink, 1, false)
	p.line(left, Height-bottom, Width-right, Height-bottom, ink, 1, false)
	p.text(8, top-10, c.Left, ink)
	p.text((left+Width-right-p.width(c.X))/2, Height-14, c.X, ink)
}

// legend names the curves in one row below the title.
func (c Chart) legend(p pen) {
	at := left + 130
	for _, curve := range c.Curves {
		p.line(at, 38, at+22, 38, curve.Color, 3, curve.Dashed)
		p.text(at+28, 42, curve.Name, ink)
		at += 28 + p.width(curve.Name) + 24
	}
}

// scale maps values to pixels.
type scale struct {
	from, to float64
	low, up  int // pixels of from and to
}

func (s scale) of(v float64) int {
	return s.low + int(math.Round((v-s.from)/(s.to-s.from)*float64(s.up-s.low)))
}

func (s scale) ticks() []float64 {
	step := stride(s.to - s.from)
	var all []float64
	for i := math.Ceil(s.from / step); i*step <= s.to+step/1e6; i++ {
		all = append(all, i*step+0) // -0+0 is 0.
	}
	return all
}

// stride is 1, 2 or 5 times a power of ten: five to twelve of it make a span.
func stride(span float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, n := range []float64{1, 2, 5} {
		if span/(n*unit) <= 12 {
			return n * unit
		}
	}
	return 10 * unit
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// pen draws on an image.
type pen struct{ img *image.RGBA }

func (p pen) width(s string) int { return font.MeasureString(basicfont.Face7x13, s).Ceil() }

func (p pen) text(x, y int, s string, c color.RGBA) {
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(c), Face: basicfont.Face7x13,
		Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// line draws a straight line, as thick as told.
func (p pen) line(x0, y0, x1, y1 int, c color.RGBA, thick int, dashed bool) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		if dashed && i%8 >= 4 {
			continue
		}
		x := x0 + (x1-x0)*i/steps
		y := y0 + (y1-y0)*i/steps
		for dx := range thick {
			for dy := range thick {
				p.img.SetRGBA(x+dx, y+dy, c)
			}
		}
	}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
