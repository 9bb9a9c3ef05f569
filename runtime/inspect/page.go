// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// pageTemplate is the page with its style sheet. The sheet has no comments, which html/template
// would remove, so the page has it byte for byte.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"ago":       ago,
	"inWords":   func(t, now time.Time) string { return inWords(now.Sub(t)) },
	"thousands": thousands,
	"count":     count,
	"color":     condition.color,
	"handler":   conditionOfHandler,
	"stream": func(running bool, s informer.StreamStatus) condition {
		return conditionOf(running, s.Synced, s.Reflector)
	},
	"state":    shortState,
	"relists":  relistsInWords,
	"utc":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"sentence": sentence,
	"attempt":  func(failures int) string { return fmt.Sprintf("attempt %d", failures+1) },
}).Parse(strings.Replace(pageHTML, "STYLE", pageCSS, 1)))

// contentPolicy allows only the style sheet, by its hash: no scripts, no requests.
var contentPolicy = func() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

type pageData struct {
	report
	KeyText   string // the requested key
	KeyError  error  // of parsing KeyText
	Refresh   int    // in seconds; 0 for never
	Refreshes []int
}

func (p pageData) Counts() (counts []conditionCount) {
	for _, i := range p.Informers {
		at := slices.IndexFunc(counts, func(c conditionCount) bool { return c.Condition == i.Condition })
		if at < 0 {
			at = len(counts)
			counts = append(counts, conditionCount{Condition: i.Condition})
		}
		counts[at].Count++
	}
	slices.SortStableFunc(counts, func(a, b conditionCount) int { return b.Condition.rank() - a.Condition.rank() })
	return counts
}

type conditionCount struct {
	Condition condition
	Count     int
}

func (p pageData) Objects() (n int) {
	for _, i := range p.Informers {
		n += i.Objects
	}
	return n
}

func (p pageData) HasHandlers() bool {
	return slices.ContainsFunc(p.Informers, func(i informerReport) bool { return len(i.Handlers) > 0 })
}

func (c condition) color() string {
	switch c {
	case stopped:
		return "off"
	case starting, absent:
		return "info"
	case behind, recovering:
		return "warn"
	case stuck, failing:
		return "bad"
	}
	return "good"
}

// shortState returns a reflector's state in a few words. The page's problems have the rest.
func shortState(running bool, s reflector.Status) string {
	switch {
	case !running:
		return ""
	case s.Reason != reason.None:
		return fmt.Sprintf("%v: %v", s.State, s.Reason)
	}
	return s.State.String()
}

func relistsInWords(by map[reason.Reason]int64) string {
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(by)) {
		name := cause.String()
		if cause == reason.None {
			name = "new run"
		}
		parts = append(parts, fmt.Sprintf("%s %s", thousands(int(by[cause])), name))
	}
	return strings.Join(parts, ", ")
}
