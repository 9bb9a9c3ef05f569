// SPDX-License-Identifier: Apache-2.0

package shapes

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/internal/generator/shapes/oracle"
	v1 "github.com/informer-gen/informer-gen/internal/generator/shapes/v1"
)

// rule is what a marker says about an index, read as simply as the markers of v1 allow.
type rule struct {
	text       string
	paths      []string
	owner, fn  string
	when       []string
	namespaced bool
}

var (
	indexMarker = regexp.MustCompile(`(?m)^// \+informer:index:name=(\w+),(.+)$`)
	argument    = regexp.MustCompile(`(?:^|,)(field|func|owner|when|namespaced)=([^,]+)`)
	condition   = regexp.MustCompile(`^ *([^=! ]+) *([!=]=) *(.*?) *$`)
	pathPart    = regexp.MustCompile(`\.(\w+)|\[(\*|keys|'[^']*'|"[^"]*")\]`)
)

// markedRules are the rules of v1, by the names of their indexes.
func markedRules(tb testing.TB) map[string]rule {
	tb.Helper()
	source, err := os.ReadFile("v1/types.go")
	if err != nil {
		tb.Fatal(err)
	}
	rules := map[string]rule{}
	for _, m := range indexMarker.FindAllSubmatch(source, -1) {
		r := rule{text: string(m[2])}
		for _, arg := range argument.FindAllStringSubmatch(r.text, -1) {
			switch arg[1] {
			case "field":
				r.paths = strings.Split(arg[2], ";")
				for _, path := range r.paths {
					if rest := pathPart.ReplaceAllString(path, ""); rest != "" {
						tb.Fatalf("%s: the test can't read %s", path, rest)
					}
				}
			case "func":
				r.fn = arg[2]
			case "owner":
				r.owner = arg[2]
			case "when":
				r.when = strings.Split(arg[2], "&&")
			case "namespaced":
				r.namespaced = true
			}
		}
		rules[string(m[1])] = r
	}
	got, want := slices.Sorted(maps.Keys(keysOf)), slices.Sorted(maps.Keys(rules))
	if !slices.Equal(got, want) {
		tb.Fatalf("the test has the indexes %q, v1 has %q", got, want)
	}
	return rules
}

// keysByRules finds the keys of an object in its JSON: as JSON, sorted, each once.
func keysByRules(t *testing.T, shape *v1.Shape, rules map[string]rule) map[string][]string {
	t.Helper()
	root := decode(t, marshal(t, shape))
	found := map[string][]string{}
	for name, r := range rules {
		var keys []string
		for _, key := range r.keys(t, root) {
			if r.namespaced {
				key = map[string]any{"Namespace": shape.Namespace, "Key": key}
			}
			keys = append(keys, canonical(t, key))
		}
		slices.Sort(keys)
		found[name] = slices.Compact(keys)
	}
	return found
}

func (r rule) keys(t *testing.T, root any) []any {
	for _, text := range r.when {
		if !holds(t, root, text) {
			return nil
		}
	}
	if r.owner != "" {
		return owned(root, r.owner)
	}
	if r.fn != "" {
		pairs, _ := root.(map[string]any)["spec"].(map[string]any)["pairs"].([]any)
		return pairs
	}
	rows := []row{{}}
	for _, path := range r.paths {
		rows = oracle.Join(rows, walk(root, path))
	}
	var keys []any
	for _, row := range rows {
		if len(r.paths) == 1 {
			keys = append(keys, row.Values[0])
			continue
		}
		parts := map[string]any{}
		for i, name := range partNames[r.text[:strings.IndexAny(r.text+",", ",")]] {
			parts[name] = row.Values[i]
		}
		keys = append(keys, parts)
	}
	return keys
}

// partNames are the names of the parts of keys.
var partNames = map[string][]string{
	"field=.spec.string;.spec.int":                                                                            {"String", "Int"},
	"field=.spec.pointer;.spec.next.name":                                                                     {"Pointer", "Name"},
	"field=.metadata.labels['a'];.spec.pair;.spec.slice[*]":                                                   {"A", "Pair", "Slice"},
	"field=.spec.nodes[*].name;.spec.nodes[*].ref":                                                            {"Name", "Ref"},
	"field=.spec.nodes[*].names[*];.spec.nodes[*].name":                                                       {"Names", "Name"},
	"field=.spec.nodePointers[*].nodes[*].name;.spec.nodePointers[*].nodes[*].ref;.spec.nodePointers[*].name": {"NodesName", "Ref", "NodePointersName"},
	"field=.spec.nodes[*].names[*];.spec.nodes[*].refs[*]":                                                    {"Names", "Refs"},
	"field=.spec.slice[*];.spec.slicePointers[*]":                                                             {"Slice", "SlicePointers"},
	"field=.spec.string;.spec.matrix[*][*]":                                                                   {"String", "Matrix"},
	"field=.metadata.labels[keys];.metadata.labels[*]":                                                        {"Key", "Labels"},
	"field=.spec.leaves[keys];.spec.leaves[*].tags[*]":                                                        {"Key", "Tags"},
	"field=.spec.textPointers[*];.spec.textPointers[keys]":                                                    {"TextPointers", "Key"},
	"field=.spec.mapOfMaps[*][keys];.spec.mapOfMaps[*][*];.spec.mapOfMaps[keys]":                              {"Key", "MapOfMaps", "Key2"},
	"field=.spec.texts['a'];.spec.texts['b']":                                                                 {"A", "B"},
	"field=.spec.nodes[*].name;.spec.string":                                                                  {"Name", "String"},
}

// row is what a walk finds.
type row = oracle.Row[any]

// walk finds the values at a path.
func walk(value any, path string) []row {
	var rows []row
	step(value, path, pathPart.FindAllStringSubmatchIndex(path, -1), map[string]any{}, func(r row) { rows = append(rows, r) })
	return rows
}

func step(value any, path string, parts [][]int, elements map[string]any, found func(row)) {
	if value == nil {
		return
	}
	if len(parts) == 0 {
		found(row{Elements: elements, Values: []any{value}})
		return
	}
	part, rest := parts[0], parts[1:]
	at := func(place, value any) {
		longer := maps.Clone(elements)
		longer[path[:part[0]]] = place
		step(value, path, rest, longer, found)
	}
	if part[2] >= 0 {
		step(value.(map[string]any)[path[part[2]:part[3]]], path, rest, elements, found)
		return
	}
	switch bracket := path[part[4]:part[5]]; bracket {
	case "*":
		switch value := value.(type) {
		case []any:
			for i, element := range value {
				at(i, element)
			}
		case map[string]any:
			for key, element := range value {
				at(key, element)
			}
		}
	case "keys":
		for key := range value.(map[string]any) {
			at(key, mapKey(path[:part[0]], key))
		}
	default:
		key := strings.Trim(bracket, "'")
		if bracket[0] == '"' && json.Unmarshal([]byte(bracket), &key) != nil {
			panic(bracket)
		}
		step(value.(map[string]any)[key], path, rest, elements, found)
	}
}

// mapKey is a key as the map has it: JSON has text in the place of numbers.
func mapKey(path, key string) any {
	if path == ".spec.numbers" {
		return json.Number(key)
	}
	return key
}

func holds(t *testing.T, root any, text string) bool {
	t.Helper()
	m := condition.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no condition: %s", text)
	}
	got := "null"
	if rows := walk(root, m[1]); len(rows) > 0 {
		got = canonical(t, rows[0].Values[0])
	}
	want := m[3]
	if strings.HasPrefix(want, "'") {
		want = `"` + strings.Trim(want, "'") + `"`
	} else if !json.Valid([]byte(want)) {
		want = `"` + want + `"`
	}
	return (got == want) == (m[2] == "==")
}

func owned(root any, owner string) []any {
	var keys []any
	references, _ := root.(map[string]any)["metadata"].(map[string]any)["ownerReferences"].([]any)
	for _, r := range references {
		ref := r.(map[string]any)
		if owner == "controller" {
			if ref["controller"] == true {
				return []any{ref["uid"]}
			}
			continue
		}
		kind, group, _ := strings.Cut(owner, ".")
		of, version, ok := strings.Cut(ref["apiVersion"].(string), "/")
		if !ok {
			of, version = "", of
		}
		if ref["kind"] == kind && of == group && version != "" && !strings.Contains(version, "/") {
			keys = append(keys, ref["name"])
		}
	}
	return keys
}

func decode(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// canonical is the JSON of a value, with the fields of objects in the order of their names.
func canonical(t *testing.T, value any) string {
	t.Helper()
	return marshal(t, decode(t, marshal(t, value)))
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
