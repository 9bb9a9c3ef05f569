// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"slices"
	"strings"
)

// minimal returns few rules that allow these cells and nothing else, like controller-gen:
// resources of a group with the same verbs are one rule, then groups with the same resources and
// verbs. All lists are sorted, and so are the rules. names are the resourceNames of all rules.
func minimal(cells []cell, names []string) []*rule {
	verbs := map[cell]map[string]bool{} // by cells without a verb
	for _, c := range cells {
		verb := c.verb
		c.verb = ""
		if verbs[c] == nil {
			verbs[c] = map[string]bool{}
		}
		verbs[c][verb] = true
	}
	type resources struct{ group, verbs string }
	type groups struct{ resources, verbs string }
	urls, byVerbs, byResources := map[string][]string{}, map[resources][]string{}, map[groups][]string{}
	for c, set := range verbs {
		list := join(sorted(set))
		if c.url != "" {
			urls[list] = append(urls[list], c.url)
		} else {
			byVerbs[resources{c.group, list}] = append(byVerbs[resources{c.group, list}], c.resource)
		}
	}
	for r, list := range byVerbs {
		g := groups{join(slices.Sorted(slices.Values(list))), r.verbs}
		byResources[g] = append(byResources[g], r.group)
	}
	var rules []*rule
	for verbs, list := range urls {
		rules = append(rules, &rule{lists: map[string][]string{urlsKey: slices.Sorted(slices.Values(list)), verbsKey: split(verbs)}})
	}
	for g, list := range byResources {
		r := &rule{lists: map[string][]string{groupsKey: slices.Sorted(slices.Values(list)), resourcesKey: split(g.resources), verbsKey: split(g.verbs)}}
		if len(names) > 0 {
			r.lists[namesKey] = names
		}
		rules = append(rules, r)
	}
	slices.SortFunc(rules, (*rule).compare)
	return rules
}

// compare orders rules by group, resource, name and path.
func (r *rule) compare(other *rule) int {
	for _, key := range []string{groupsKey, resourcesKey, namesKey, urlsKey, verbsKey} {
		if c := slices.Compare(r.lists[key], other.lists[key]); c != 0 {
			return c
		}
	}
	return 0
}

// join and split make a list the key of a map.
func join(list []string) string { return strings.Join(list, "\n") }

func split(list string) []string { return strings.Split(list, "\n") }

// insert adds an item to a list where it belongs if the list is sorted.
func insert(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	at := slices.IndexFunc(list, func(other string) bool { return other > item })
	if at < 0 {
		at = len(list)
	}
	return slices.Insert(slices.Clone(list), at, item)
}
