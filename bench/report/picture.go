// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/bench/harness"
)

// colors are those of one picture.
type colors struct{ text, muted, ours, theirs string }

// pictures are the files of the README's picture, by path.
var pictures = map[string]colors{
	"docs/images/bench-light.svg": {text: "#1f2328", muted: "#59636e", ours: "#0969da", theirs: "#b4bcc5"},
	"docs/images/bench-dark.svg":  {text: "#e6edf3", muted: "#9198a1", ours: "#4493f8", theirs: "#565e67"},
}

// drawnPicks are the rows that are drawn. In all of them less is better.
var drawnPicks = []Pick{
	{"sync/pods/watch-list", "wall time"},
	{"sync/pods/watch-list", "heap retained, per object"},
	{"relist/watch-list", "wall time, from the first request"},
	{"stall", "heap growth"},
}

// Measures of the picture, in pixels.
const (
	pictureWidth = 800
	barLeft      = 104
	barWidth     = 470 // of the greater value
	barHeight    = 14
	barStep      = 20
	groupStep    = 76
	topMargin    = 22
)

// draw returns an SVG with two bars for each of drawnPicks, one below the other. The lengths are
// to scale within a pair; values and ratio stand beside the bars, as in the table.
func (r report) draw(c colors) (string, error) {
	var out strings.Builder
	height := topMargin + len(drawnPicks)*groupStep + 14
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %d" role="img"`,
		pictureWidth, height, height)
	fmt.Fprint(&out, ` font-family="-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13">`+"\n")
	fmt.Fprintf(&out, "<title>%s beside %s; less is better</title>\n", harness.Ours, harness.ClientGo)
	y := topMargin
	for _, which := range drawnPicks {
		l, err := r.find(which)
		if err != nil {
			return "", err
		}
		ratio, err := strconv.ParseFloat(strings.ReplaceAll(l.ratio, ",", ""), 64)
		if err != nil {
			return "", fmt.Errorf("%q of %s can't be drawn: the ratio is %q", l.measure, l.bench, l.ratio)
		}
		text(&out, 0, y, c.text, `font-size="14" font-weight="600"`, l.what)
		most := max(ratio, 1)
		bar(&out, y+barStep, c, c.ours, string(harness.Ours), ratio/most, l.ours+" · ratio "+l.ratio)
		bar(&out, y+2*barStep, c, c.theirs, string(harness.ClientGo), 1/most, l.theirs)
		y += groupStep
	}
	text(&out, 0, y, c.muted, `font-size="12"`, "Less is better. "+r.machine)
	out.WriteString("</svg>\n")
	return out.String(), nil
}

// bar writes a side's name, its bar of a part of the full width, and its value.
func bar(out *strings.Builder, y int, c colors, fill, name string, part float64, value string) {
	width := max(part*barWidth, 1)
	text(out, 0, y, c.muted, "", name)
	fmt.Fprintf(out, `<rect x="%d" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`+"\n", barLeft, y-barHeight+3, width, barHeight, fill)
	text(out, barLeft+int(width)+8, y, c.text, "", value)
}

// text writes a line of text that begins at x and stands on y.
func text(out *strings.Builder, x, y int, fill, attributes, s string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(out, `<text x="%d" y="%d" fill="%s"%s>`, x, y, fill, attributes)
	_ = xml.EscapeText(out, []byte(s)) // a Builder takes all
	out.WriteString("</text>\n")
}
