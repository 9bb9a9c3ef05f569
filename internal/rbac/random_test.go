// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestEditedRolesFit edits random roles for random requests. Every result fits, and a second edit
// changes nothing.
func TestEditedRolesFit(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		text := randomRole(random)
		var records []Record
		for range random.IntN(12) {
			records = append(records, randomRequest(random))
		}
		records = Distinct(records)
		for round, want := range []string{"", "no change"} {
			file, list, err := parse("role.yaml", []byte(text))
			if err != nil || len(list) > 0 {
				t.Fatalf("seed %d, round %d: %v %v\n%s", seed, round, err, list, text)
			}
			c := Compare([]*File{file}, records)
			edits, err := c.Edits()
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if want != "" && len(edits)+len(c.Missing)+len(c.Unused) > 0 {
				t.Fatalf("seed %d: after editing: %v %v\n%s", seed, c.Missing, c.Unused, text)
			}
			if len(edits) > 0 {
				text = string(edits[0].Text)
			}
		}
	}
}

func some(random *rand.Rand, items ...string) []string {
	random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items[:1+random.IntN(min(3, len(items)))]
}

func randomRole(random *rand.Rand) string {
	var b strings.Builder
	indent := strings.Repeat(" ", 2*random.IntN(2))
	list := func(lead, key string, items []string) {
		fmt.Fprintf(&b, "%s%s%s:", indent, lead, key)
		if random.IntN(2) == 0 {
			fmt.Fprintf(&b, " [%q]\n", strings.Join(items, `", "`))
			return
		}
		b.WriteString("\n")
		for _, item := range items {
			fmt.Fprintf(&b, "%s  - %q # %s\n", indent, item, item)
		}
	}
	if random.IntN(3) == 0 {
		b.WriteString("kind: ServiceAccount\n---\n")
	}
	b.WriteString("# a role\nkind: ClusterRole\nrules:")
	rules := random.IntN(5)
	if rules == 0 {
		b.WriteString([]string{"", " []"}[random.IntN(2)])
	}
	b.WriteString("\n")
	for range rules {
		b.WriteString([]string{"", "\n", "# a rule\n", indent + "# keep: it\n"}[random.IntN(4)])
		if random.IntN(5) == 0 {
			list("- ", urlsKey, some(random, "/metrics", "/logs/*", "/x"))
		} else {
			list("- ", groupsKey, some(random, "", "apps", "*"))
			list("  ", resourcesKey, some(random, "pods", "deployments", "deployments/status", "*", "*/status"))
			if random.IntN(4) == 0 {
				list("  ", namesKey, some(random, "a", "b"))
			}
		}
		list("  ", verbsKey, some(random, "get", "list", "patch", "*", "bind"))
	}
	b.WriteString([]string{"", "\n# the end\n", "apiVersion: rbac.authorization.k8s.io/v1\n---\nkind: B\n"}[random.IntN(3)])
	text := b.String()
	if !strings.Contains(text, "apiVersion") {
		text = strings.Replace(text, "kind: ClusterRole", "kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1", 1)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, `\", \"`, `", "`), "# \n", "\n")
}

func randomRequest(random *rand.Rand) Record {
	one := func(items ...string) string { return items[random.IntN(len(items))] }
	if random.IntN(6) == 0 {
		return Record{Request: Request{Verb: one("get", "post"), Path: one("/metrics", "/logs/a", "/y", "/version")}}
	}
	return Record{Request: Request{
		Verb: one("get", "list", "patch", "watch"), Group: one("", "apps", "batch"), Resource: one("pods", "deployments", "nodes"),
		Subresource: one("", "", "status"), Name: one("", "a", "c"), Namespaced: random.IntN(2) == 0,
	}}
}
