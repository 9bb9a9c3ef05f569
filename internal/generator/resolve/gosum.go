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

// missingSums replaces findings about missing go.sum entries, as after go get MODULE, with a single
// one, which names the command that adds them. Other findings may be consequences, so they are
// dropped, unless types that don't compile are left out.
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
			return true // another finding covers it
		}
		added[lacking] = true
		// The go command names any package with the missing import; it may need many more modules.
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
