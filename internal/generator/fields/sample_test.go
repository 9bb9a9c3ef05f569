// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSelectionsCut(t *testing.T) {
	const object = `{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"list":[{"a":1,"b":2},{"b":3}],"map":{"k":{"a":1,"b":2}},"dot.ted":{"a":1,"b":2},"n":1}}`
	for paths, want := range map[string]string{
		"":                                     `{}`,
		".metadata.labels":                     `{"metadata":{"labels":{"x":"y"}}}`,
		".spec.list[*].a .metadata.name":       `{"metadata":{"name":"a"},"spec":{"list":[{"a":1},{}]}}`,
		".spec.map[*].a .spec.n":               `{"spec":{"map":{"k":{"a":1}},"n":1}}`,
		".spec['dot.ted'].b":                   `{"spec":{"dot.ted":{"b":2}}}`,
		".spec.list .spec.list[*].a":           `{"spec":{"list":[{"a":1,"b":2},{"b":3}]}}`,
		".spec.missing.part .metadata.missing": `{"metadata":{},"spec":{}}`,
	} {
		s := selection{}
		for path := range strings.FieldsSeq(paths) {
			s.add(path)
		}
		var v any
		if err := json.Unmarshal([]byte(object), &v); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(s.cut(v))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%q keeps\n%s, want\n%s", paths, got, want)
		}
	}
}

func TestSamplesByKind(t *testing.T) {
	sample, err := ReadSample(strings.NewReader(`{"kind":"PodList","items":[{"metadata":{}},{"kind":"Pod"}]} {"kind":"Node"} {"kind":"List","items":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(sample.Kinds(), " "); got != "Node Pod" || len(sample.byKind["Pod"]) != 2 {
		t.Errorf("kinds %s, %d Pods", got, len(sample.byKind["Pod"]))
	}
	for text, want := range map[string]string{
		"":                                 "it is empty",
		"[]":                               "document 1 isn't an object in JSON",
		`{"kind":"Pod"} {`:                 "document 2 isn't an object in JSON",
		`{"metadata":{}}`:                  "document 1: an object has no kind",
		`{"kind":"List","items":{}}`:       "document 1: the items of List are no list",
		`{"kind":"List","items":[{}]}`:     "document 1: item 0 of List: an object has no kind",
		`{"kind":"PodList","items":["a"]}`: "document 1: item 0 of PodList is no object",
	} {
		if _, err := ReadSample(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}
