// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Edit is a changed file.
type Edit struct {
	Name    string
	Text    []byte
	Dropped []string // comments of the old text only
}

// Edits returns the changed files, whose rules allow the program's requests and nothing else.
// Missing rules are added to the first file, to its first ClusterRole, or else Role. The rest is
// kept as it is, with the order of rules and all comments.
func (c *Comparison) Edits() ([]Edit, error) {
	var home *role
	if len(c.missing) > 0 {
		var err error
		if home, err = c.home(); err != nil {
			return nil, err
		}
	}
	var edits []Edit
	for _, f := range c.files {
		lines := strings.SplitAfter(string(f.text), "\n")
		for _, r := range slices.Backward(f.roles) {
			if r.selects != nil {
				continue
			}
			rules, changed := r.pruned()
			if r == home {
				rules, changed = add(rules, c.missing), true
			}
			if !changed {
				continue
			}
			var err error
			if lines, err = f.replace(lines, r, rules); err != nil {
				return nil, err
			}
		}
		if text := []byte(strings.Join(lines, "")); !bytes.Equal(text, f.text) {
			edits = append(edits, Edit{f.name, text, dropped(f.text, text)})
		}
	}
	return edits, nil
}

// home returns the role for missing rules.
func (c *Comparison) home() (*role, error) {
	f := c.files[0]
	own := slices.DeleteFunc(slices.Clone(f.roles), func(r *role) bool { return r.selects != nil })
	if at := slices.IndexFunc(own, func(r *role) bool { return r.cluster }); at >= 0 {
		return own[at], nil
	}
	if len(own) == 0 {
		return nil, diag.List{f.finding(nil, "missing rules can't be added, because the file's ClusterRoles are aggregated; name another file first")}
	}
	for _, q := range c.missing {
		if !q.Namespaced {
			return nil, diag.List{f.finding(own[0].document, "a Role can't allow %s of %s in all namespaces; name a file with a ClusterRole first", q.Verb, q.target())}
		}
	}
	return own[0], nil
}

// pruned returns the rules without unneeded parts. Rules with a node and changed set replace that
// node; rules without one are new.
func (r *role) pruned() (rules []*rule, changed bool) {
	for _, old := range r.rules {
		all, needed := 0, []cell{}
		for c := range old.cells() {
			all++
			if old.used[c] || !c.judged() {
				needed = append(needed, c)
			}
		}
		if old.keep || len(needed) == all {
			rules = append(rules, old)
			continue
		}
		rules = append(rules, old.split(needed)...)
		changed = true
	}
	return rules, changed
}

// split returns rules for some of r's cells, with items in r's order. The first one replaces r.
func (r *rule) split(cells []cell) []*rule {
	parts := minimal(cells, r.lists[namesKey])
	for i, part := range parts {
		for key, list := range part.lists {
			slices.SortStableFunc(list, func(a, b string) int {
				return slices.Index(r.lists[key], a) - slices.Index(r.lists[key], b)
			})
		}
		if i == 0 {
			part.node, part.changed = r.node, true
		}
	}
	return parts
}

// add adds requests to rules: to the rule of the same resource or else to one with the
// same verbs if there is one. It invents no resourceNames.
func add(rules []*rule, requests []Request) []*rule {
	verbs := map[cell]map[string]bool{} // by cells without a verb
	for _, q := range requests {
		c := cell{url: q.Path}
		if q.Resource != "" {
			c = cell{group: q.Group, resource: q.resource()}
		}
		if verbs[c] == nil {
			verbs[c] = map[string]bool{}
		}
		verbs[c][q.Verb] = true
	}
	var fresh []cell
	for _, c := range slices.SortedFunc(maps.Keys(verbs), cell.compare) {
		set := verbs[c]
		has := func(r *rule) bool { return r.plain() && slices.ContainsFunc(slices.Collect(r.cells()), c.hasVerb) }
		if at := slices.IndexFunc(rules, has); at >= 0 {
			r := rules[at]
			for _, verb := range r.lists[verbsKey] {
				set[verb] = true
			}
			others := slices.DeleteFunc(slices.Collect(r.cells()), c.hasVerb)
			if len(others) == 0 {
				rules[at] = r.with(verbsKey, sorted(set)...)
				continue
			}
			rules = slices.Replace(rules, at, at+1, r.split(others)...)
		}
		same := func(r *rule) bool {
			return r.plain() && r.fits(c) && slices.Equal(slices.Sorted(slices.Values(r.lists[verbsKey])), sorted(set))
		}
		if at := slices.IndexFunc(rules, same); at >= 0 {
			key, item := resourcesKey, c.resource
			if c.url != "" {
				key, item = urlsKey, c.url
			}
			rules[at] = rules[at].with(key, item)
			continue
		}
		for verb := range set {
			fresh = append(fresh, cell{c.group, c.resource, c.url, verb})
		}
	}
	for _, r := range minimal(fresh, nil) {
		at := slices.IndexFunc(rules, func(other *rule) bool { return other.compare(r) > 0 })
		if at < 0 {
			at = len(rules)
		}
		rules = slices.Insert(rules, at, r)
	}
	return rules
}

// plain reports whether add may change r.
func (r *rule) plain() bool { return !r.keep && len(r.lists[namesKey]) == 0 }

// hasVerb reports whether other is c, which has no verb, with a verb.
func (c cell) hasVerb(other cell) bool {
	other.verb = ""
	return other == c
}

// fits reports whether r has no other group than c, or paths like c.
func (r *rule) fits(c cell) bool {
	if c.url != "" {
		return len(r.lists[urlsKey]) > 0
	}
	return len(r.lists[urlsKey]) == 0 && slices.Equal(r.lists[groupsKey], []string{c.group})
}

// with returns r with items added to a list.
func (r *rule) with(key string, items ...string) *rule {
	changed := &rule{lists: maps.Clone(r.lists), node: r.node, changed: true}
	for _, item := range items {
		changed.lists[key] = insert(changed.lists[key], item)
	}
	return changed
}

func (c cell) compare(other cell) int {
	return slices.Compare([]string{c.group, c.resource, c.url}, []string{other.group, other.resource, other.url})
}

// dropped returns the comments of old that text lacks.
func dropped(old, text []byte) []string {
	var lost []string
	have := comments(text)
	for _, comment := range comments(old) {
		if at := slices.Index(have, comment); at >= 0 {
			have = slices.Delete(have, at, at+1)
		} else {
			lost = append(lost, comment)
		}
	}
	return lost
}

func comments(text []byte) (all []string) {
	for line := range strings.Lines(" " + strings.ReplaceAll(string(text), "\n", "\n ")) {
		if _, comment, ok := strings.Cut(line, " #"); ok {
			all = append(all, "#"+strings.TrimRight(comment, " \r\n"))
		}
	}
	return all
}

func (f *File) styleError(r *role) error {
	at := r.key
	if at == nil {
		at = r.document
	}
	return diag.List{f.finding(at, "the rules can't be edited in this form; write them one below the other, each with a dash before its first key")}
}
