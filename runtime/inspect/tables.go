// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// section returns a titled part of the page, or nothing unless shown.
func section(id, title literal, content markup, shown bool) markup {
	if !shown {
		return ""
	}
	return el("section", attr("id", string(id)), el("h2", text(string(title))), content)
}

// table returns a table whose rows have these columns. Those that end in # have numbers.
func table(body markup, columns ...string) markup {
	var head markup
	for _, name := range columns {
		name, isNumber := strings.CutSuffix(name, "#")
		var align attribute
		if isNumber {
			align = class("number")
		}
		head += el("th", attr("scope", "col"), align, text(name))
	}
	return el("div", class("panel"), el("table", el("thead", el("tr", head)), body))
}

func rowHead(content ...part) markup {
	return el("th", append(content, attr("scope", "row"))...)
}

// cell returns a cell. The label stands before it on narrow screens, which don't show empty cells.
func cell(label, classes literal, content markup) markup {
	if content == "" {
		classes, content = classes+" none", el("span", muted, text("none"))
	}
	return el("td", attr("data-label", string(label)), class(classes), el("div", content))
}

// details returns a row below another one, across columns.
func details(head markup, columns int, content ...part) markup {
	return el("tr", class("part"), rowHead(head),
		el("td", attr("colspan", fmt.Sprint(columns)), el("div", content...)))
}

func badge(c condition) markup { return el("span", class("badge "+c.color()), text(string(c))) }

// mutedText returns a gray text, or nothing if it is empty.
func mutedText(s string) markup {
	if s == "" {
		return ""
	}
	return el("span", muted, text(s))
}

func (p *page) informers() markup {
	var body markup
	for _, i := range p.Informers {
		rows := el("tr", rowHead(text(i.Name)), p.informerCells(i.Condition, i.Running, i.Reflector, i.Objects, i.ResourceVersion, i.Streams))
		if n := i.Namespaces; n != nil {
			rows += el("tr", class("part"), rowHead(mutedText("in"), text(" "+n.Name)),
				p.informerCells(conditionOf(i.Running, n.Synced, n.Reflector), i.Running, n.Reflector, len(i.Streams), n.Reflector.ResourceVersion, []informer.StreamStatus{{Reflector: n.Reflector}}))
		}
		if len(i.Streams) > 1 || i.Namespaces != nil {
			for _, s := range i.Streams {
				rows += el("tr", class("part"), rowHead(mutedText("in"), text(" "+s.Namespace)),
					p.informerCells(conditionOf(i.Running, s.Synced, s.Reflector), i.Running, s.Reflector, s.Objects, s.ResourceVersion, []informer.StreamStatus{s}))
			}
		}
		if c := checkpointOf(i.Streams, p.Time); c.err != "" {
			rows += details(mutedText("checkpoint"), 6, el("span", class("badge warn"), text("not written")), text(" "+c.err+"; "+c.text))
		} else if c.text != "" {
			rows += details(mutedText("checkpoint"), 6, text(c.text))
		}
		body += el("tbody", attr("id", i.ID), rows)
	}
	return section("informers", "Informers", table(body,
		"Informer", "State", "Objects#", "resourceVersion#", "Last event", "Last bookmark", "Relists"), body != "")
}

func (p *page) informerCells(c condition, running bool, s reflector.Status, objects int, version string, streams []informer.StreamStatus) markup {
	var event, bookmark time.Time
	relists := map[reason.Reason]int64{}
	for _, s := range streams {
		event, bookmark = later(event, s.Reflector.LastEvent), later(bookmark, s.Reflector.LastBookmark)
		for cause, n := range s.Reflector.RelistsBy {
			relists[cause] += n
		}
	}
	return cell("State", "state", join(" ", badge(c), mutedText(shortState(running, s)))) +
		cell("Objects", "number", text(thousands(objects))) +
		cell("resourceVersion", "number", text(version)) +
		cell("Last event", "time", p.ago(event)) +
		cell("Last bookmark", "time", p.ago(bookmark)) +
		cell("Relists", "causes", text(relistsInWords(relists)))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ago returns the age of t, or nothing for the zero time.
func (p *page) ago(t time.Time) markup {
	if t.IsZero() {
		return ""
	}
	return text(ago(t, p.Time))
}

// since returns the time since t in words.
func (p *page) since(t time.Time) string { return inWords(p.Time.Sub(t)) }

// keyLink links to the explanation of a key.
func (p *page) keyLink(key object.Key) markup {
	return el("a", attr("href", "?"+url.Values{"key": {key.String()}}.Encode()), text(key.String()))
}

func (p *page) handlers() markup {
	var rows markup
	for _, i := range p.Informers {
		for _, h := range i.Handlers {
			var lag, callback markup
			if h.Backlog > 0 {
				lag = text(p.since(h.WaitingSince))
			}
			if h.Callback != "" {
				callback = text(h.Callback+" of ") + p.keyLink(h.Key) + text(" for "+p.since(h.Since))
			}
			merging := ""
			if h.Merging {
				merging = "merged"
			}
			rows += el("tr", rowHead(text(h.Name)),
				cell("of", "name", el("a", attr("href", "#"+i.ID), text(i.Name))),
				cell("State", "state", badge(h.Condition)),
				cell("Backlog", "number", join(" ", text(thousands(h.Backlog)), mutedText(merging))),
				cell("Lag", "time", lag),
				cell("Callback", "keys", callback))
		}
	}
	return section("handlers", "Handlers", table(el("tbody", rows), "Handler", "of", "State", "Backlog#", "Lag", "Callback"), rows != "")
}

// maxPageKeys is the number of keys of each sort that the page shows of a controller. JSON has
// more.
const maxPageKeys = 10

func (p *page) controllers() markup {
	var content, body markup
	if p.Leadership != nil {
		content = el("p", attr("id", "leadership"), muted, text(p.Leadership.String()))
	}
	for _, c := range p.Controllers {
		body += el("tbody", attr("id", c.ID), el("tr", p.controllerCells(c)), p.controllerErrors(c))
	}
	if body != "" {
		content += table(body, "Controller", "State", "Ready#", "Oldest", "Delayed#", "Running", "Reconciles#", "Failed#")
	}
	return section("controllers", "Controllers", content, content != "")
}

func (p *page) controllerCells(c controllerReport) markup {
	name := text(c.Name)
	if p.links != "" {
		name = el("a", attr("href", p.links+url.PathEscape(c.Name)), name)
	}
	workers, levels := "", ""
	if c.Condition != stopped && c.Concurrency > 0 {
		workers = fmt.Sprintf("%d of %s", c.Active, count(c.Concurrency, "worker"))
	}
	q := &c.Queue
	ready := q.High + q.Normal + q.Low
	if ready > 0 {
		levels = fmt.Sprintf("by priority: %s, %s, %s", thousands(q.High), thousands(q.Normal), thousands(q.Low))
	}
	var oldest, running markup
	if q.Oldest != nil {
		oldest = p.keyLink(q.Oldest.Key) + text(", for "+p.since(q.Oldest.Since))
	}
	for _, k := range q.Running[:min(len(q.Running), maxPageKeys)] {
		running += el("p", p.keyLink(k.Key), text(fmt.Sprintf(" for %s, attempt %d", p.since(k.Since), k.Failures+1)))
	}
	if more := len(q.Running) - maxPageKeys; more > 0 {
		running += el("p", mutedText(fmt.Sprintf("and %s more", thousands(more))))
	}
	t := &c.Totals
	failed := t.Failed + t.Terminal
	return rowHead(name) + cell("State", "state", join(" ", badge(c.Condition), mutedText(workers))) +
		cell("Ready", "number", join(" ", text(thousands(ready)), mutedText(levels))) +
		cell("Oldest", "keys", oldest) +
		cell("Delayed", "number", number(q.Delayed+q.Paced+q.Held)) +
		cell("Running", "keys", running) +
		cell("Reconciles", "number", total(t.Succeeded+t.Again+failed, c.LastMinute.Ended)) +
		cell("Failed", "number", total(failed, c.LastMinute.Failed))
}

// number returns n, or nothing for 0.
func number(n int) markup {
	if n == 0 {
		return ""
	}
	return text(thousands(n))
}

func total(all int64, lastMinute int) markup {
	var rate string
	if lastMinute > 0 {
		rate = "(" + thousands(lastMinute) + " in the last minute)"
	}
	return join(" ", number(int(all)), mutedText(rate))
}

// controllerErrors has a row for a failed run, each failing key, and the last error of other keys.
func (p *page) controllerErrors(c controllerReport) (rows markup) {
	const columns = 7
	if c.RunError != "" {
		rows = details(mutedText("the run failed"), columns, text(c.RunError))
	}
	shown := c.Failing[:min(len(c.Failing), maxPageKeys)]
	for _, k := range shown {
		rows += details(p.keyLink(k.Key), columns, mutedText(nextTryInWords(k, p.Time)+":"), text(" "+k.Error))
	}
	if more := max(len(c.Failing), c.Queue.Failing) - len(shown); more > 0 {
		rows += details(mutedText("and"), columns, text(count(more, "more key")+" that "+map[bool]string{true: "fails", false: "fail"}[more == 1]))
	}
	isLast := func(k controller.KeyStatus) bool { return k.Key.String() == c.LastErrorKey }
	if c.LastError != "" && !slices.ContainsFunc(shown, isLast) {
		rows += details(mutedText("last error"), columns, mutedText(ago(c.LastErrorTime, p.Time)+", of "+c.LastErrorKey+":"), text(" "+c.LastError))
	}
	return rows
}

func (c condition) color() literal {
	switch c {
	case stopped, waiting:
		return "off"
	case starting, busy, absent:
		return "info"
	case behind, keysFail, recovering:
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
