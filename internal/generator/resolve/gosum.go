// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/load"
)

// missingSums returns one finding in the place of all, if some say that go.sum lacks an entry, as
// it does right after go get MODULE for what the packages of the module import: with the command
// that adds the entries. What else is wrong may follow from that. If types that don't compile are
// left out, it may not, and stays.
func missingSums(findings diag.List, roots []*load.Package) diag.List {
	var queries []string
	added, warning := map[string]bool{}, true
	rest := slices.DeleteFunc(slices.Clone(findings), func(d diag.Diagnostic) bool {
		m := missingSum.FindStringSubmatch(d.Message)
		if m == nil {
			return false
		}
		warning = warning && d.Warning
		lacking, query := m[1], m[2]
		if added[lacking] {
			return true // by what is there already
		}
		added[lacking] = true
		// The go command names any package that imports what is lacking, and that may need much
		// more.
		if i := slices.IndexFunc(roots, func(root *load.Package) bool { return root.Dir == filepath.Dir(d.Pos.Filename) }); i >= 0 {
			query = roots[i].Query()
		}
		if !slices.Contains(queries, query) {
			queries = append(queries, query)
		}
		return true
	})
	if len(queries) == 0 {
		return findings
	}
	if !warning {
		rest = nil
	}
	slices.Sort(queries)
	rest.Add(diag.Diagnostic{Warning: warning, Message: "go.sum has no entries for modules that the packages need: run go get " + strings.Join(queries, " ")})
	return rest.Sorted()
}

var missingSum = regexp.MustCompile(`missing go\.sum entry .*?package (\S+).*; to add(?: it)?: go get ([^\s)]+)`)
