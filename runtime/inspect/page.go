// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"time"
)

//go:embed page.css
var pageCSS string

// contentPolicy allows only the style sheet, by its hash: no scripts, no requests.
var contentPolicy = func() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

type page struct {
	report
	keyText  string // the requested key
	keyError error  // of parsing keyText
	refresh  int    // in seconds; 0 for never
	links    string // prefix of the links to controllers; "" for no links
}

var muted = class("muted")

func (p *page) markup() markup {
	title := "Informers"
	if n := len(p.Problems); n > 0 {
		title = "(" + strconv.Itoa(n) + ") " + title
	}
	head := void("meta", attr("charset", "utf-8")) +
		void("meta", attr("name", "viewport"), attr("content", "width=device-width, initial-scale=1")) +
		el("title", text(title)) + void("link", attr("rel", "icon"), attr("href", "data:,")) + el("style", markup(pageCSS))
	if p.refresh > 0 {
		head = void("meta", attr("http-equiv", "refresh"), attr("content", strconv.Itoa(p.refresh))) + head
	}
	body := p.header() + el("main", p.summary(), p.explained(), p.problems(), p.informers(), p.handlers(), p.controllers(), p.ring()) +
		el("footer", muted, text("No objects are shown here. Errors of reconciles are shown as they are."))
	return "<!DOCTYPE html>\n" + el("html", attr("lang", "en"), el("head", head), el("body", body)) + "\n"
}

// link returns a link to this page with other parameters.
func (p *page) link(values url.Values, attributes ...part) markup {
	if p.keyText != "" && !values.Has("key") {
		values.Set("key", p.keyText)
	}
	return el("a", append(attributes, attr("href", "?"+values.Encode()))...)
}

func (p *page) header() markup {
	objects := 0
	for _, i := range p.Informers {
		objects += i.Objects
	}
	at := el("time", attr("datetime", p.Time.Format(time.RFC3339)), text(p.Time.Format("15:04:05")+" UTC"))
	reload := el("span", muted, text("Reload"))
	for _, seconds := range refreshes {
		values, name := url.Values{}, "off"
		if seconds > 0 {
			name = strconv.Itoa(seconds) + " s"
			values.Set("refresh", strconv.Itoa(seconds))
		}
		var current attribute
		if seconds == p.refresh {
			current = attr("aria-current", "true")
		}
		reload += p.link(values, current, text(name))
	}
	return el("header",
		el("div", el("h1", text("Informers")),
			el("p", muted, text(count(len(p.Informers), "informer")+" with "+count(objects, "object")+", at "), at)),
		el("nav", attr("aria-label", "Page"), reload, p.link(url.Values{"format": {"json"}}, class("json"), text("JSON"))))
}

// summary has the number of informers by condition, and the form for a key.
func (p *page) summary() markup {
	numbers := map[condition]int{}
	for _, i := range p.Informers {
		numbers[i.Condition]++
	}
	var counts markup
	for _, c := range slices.Backward(byRank) {
		if n := numbers[c]; n > 0 {
			counts += el("li", el("span", class("badge "+c.color()), text(thousands(n)+" "+string(c))))
		}
	}
	if counts == "" {
		counts = el("li", el("span", class("badge off"), text("no informers")))
	}
	field := []attribute{
		attr("id", "key"), attr("name", "key"), attr("value", p.keyText), attr("placeholder", "namespace/name"),
		attr("autocomplete", "off"), attr("autocapitalize", "off"), attr("spellcheck", "false"),
	}
	if p.keyError != nil {
		field = append(field, attr("aria-invalid", "true"), attr("aria-describedby", "wrong"))
	}
	form := el("label", attr("for", "key"), text("Where is")) + void("input", field...)
	if p.refresh > 0 {
		form += void("input", attr("type", "hidden"), attr("name", "refresh"), attr("value", strconv.Itoa(p.refresh)))
	}
	form += el("button", text("Explain"))
	summary := el("section", class("top"), attr("aria-label", "Summary"),
		el("ul", class("counts"), counts), el("form", attr("method", "get"), attr("role", "search"), form))
	if p.keyError != nil {
		summary += el("p", attr("id", "wrong"), class("card bad"), text(p.keyError.Error()))
	}
	return summary
}

func (p *page) problems() markup {
	var cards markup
	for _, problem := range p.Problems {
		card := el("h3", el("a", attr("href", "#"+problem.ID), text(problem.Name)), text(" "), badge(problem.Condition)) +
			el("p", text(problem.Text))
		if problem.Advice != "" {
			card += el("p", class("advice"), text(problem.Advice))
		}
		cards += el("article", class("card "+problem.Condition.color()), card)
	}
	return section("problems", "What is wrong", el("div", class("cards"), cards), cards != "")
}

// explained says where the requested key is.
func (p *page) explained() markup {
	if p.Key == nil {
		return ""
	}
	var cards, others markup
	without := 0
	for _, in := range p.Key.Informers {
		if in.knows() {
			cards += p.keyCard(in)
			continue
		}
		without++
		others += el("li", el("b", text(in.Informer)), text(" "+in.Why))
	}
	for _, c := range p.Key.Controllers {
		color, card := literal("info"), el("h3", text("Controller "+c.Controller))+el("p", text(sentence(c.Where)))
		if c.Error != "" {
			color = "warn"
			card += el("p", text("The last reconcile failed "+ago(c.ErrorTime, p.Time)+": "), el("code", text(c.Error)))
		}
		cards += el("article", class("card "+color), card)
	}
	content := el("div", class("cards"), cards)
	if others != "" {
		var open attribute
		if without == len(p.Key.Informers) {
			open = attr("open", "")
		}
		content += el("details", open, el("summary", text(count(without, "informer")+" without it")), el("ul", others))
	}
	return el("section", attr("id", "explained"),
		el("h2", text("Where "), el("code", text(p.Key.Key)), text(" is")), content)
}

func (p *page) keyCard(in keyInformer) markup {
	card, color := el("h3", text(in.Informer)), literal("good")
	if in.Stored {
		card += el("p", class("version"), text("resourceVersion "), el("code", text(in.ResourceVersion)))
	}
	card += el("p", text(in.Why))
	var handlers markup
	for _, h := range in.Handlers {
		color = "warn"
		var does []markup
		if h.Callback != "" {
			does = append(does, text(" has been in "+h.Callback+" of it for "+inWords(p.Time.Sub(h.Since))))
		}
		if h.Backlog > 0 {
			does = append(does, text(" has "+count(h.Backlog, "undelivered event")+" of it, the oldest for "+inWords(p.Time.Sub(h.WaitingSince))))
		}
		handlers += el("li", text("Handler "), el("b", text(h.Name)), join(";", does...), text("."))
	}
	switch {
	case handlers != "":
		card += el("ul", handlers)
	case in.Stored:
		card += el("p", muted, text("Every handler has handled it."))
	}
	return el("article", class("card "+color), card)
}
