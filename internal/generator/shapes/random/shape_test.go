// SPDX-License-Identifier: Apache-2.0

package random

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shape writes the API package in testdata/shape and returns its kind, with indexes through fields
// of every shape.
func shape(t *testing.T, dir string) *kind {
	t.Helper()
	k := &kind{name: "Shape", plural: "Shapes", alias: "apishape", group: "shapes", every: true}
	for from, to := range map[string]string{"types.go": "api/shapes", "maps.go": "api/shapes", "keys.go": "funcs/shapes/keys"} {
		source, err := os.ReadFile(filepath.Join("testdata", "shape", from))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, to+"/"+from, string(source))
		for _, m := range indexMarker.FindAllStringSubmatch(string(source), -1) {
			k.indexes = append(k.indexes, k.marked(m[1], m[2]))
		}
	}
	return k
}

var (
	indexMarker = regexp.MustCompile(`(?m)^// \+informer:index:name=(\w+),(.+)$`)
	argument    = regexp.MustCompile(`(?:^|,)(field|func|owner|when|namespaced)=([^,]+)`)
	comparison  = regexp.MustCompile(`^ *([^=! ]+) *([!=]=) *(.*?) *$`)
)

// marked returns an index with its rule, parsed only as far as the markers of Shape need.
func (k *kind) marked(name, arguments string) index {
	x := index{name: name}
	var rule []string
	for _, m := range argument.FindAllStringSubmatch(arguments, -1) {
		switch value := m[2]; m[1] {
		case "field":
			rule = append(rule, fmt.Sprintf("Paths: %#v", strings.Split(value, ";")))
		case "func":
			rule = append(rule, k.calls(value))
		case "owner":
			rule = append(rule, ownersOf(value))
		case "when":
			var conditions []string
			for text := range strings.SplitSeq(value, "&&") {
				c := comparison.FindStringSubmatch(text)
				literal := strings.Trim(c[3], `'"`)
				conditions = append(conditions, fmt.Sprintf("{Path: %q, Literal: %q, Not: %v, Null: %v}", c[1], literal, c[2] == "!=", c[3] == "null"))
			}
			rule = append(rule, "When: []oracle.Condition{"+strings.Join(conditions, ", ")+"}")
		case "namespaced":
			x.namespaced = true
			rule = append(rule, "Namespaced: true")
		}
	}
	x.rule = strings.Join(rule, ", ")
	return x
}
