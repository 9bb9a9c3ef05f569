// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// base is the content of a cache, and its variants with one change in the first object.
type base struct {
	Same    []json.RawMessage
	Changed [][]json.RawMessage

	changes []change
}

// change is a change of the first object.
type change struct {
	// path has [*] in the place of each key and index.
	path string
	// shape means that a part was added, or an element of a list or a map.
	shape bool
	text  string
}

const full = `{
	"metadata": {
		"name": "blue", "namespace": "shop", "uid": "u", "resourceVersion": "7",
		"generation": 3, "deletionTimestamp": "2024-05-01T10:00:00Z",
		"labels": {"app": "shop"}, "annotations": {"note": "x"}, "finalizers": ["keep"],
		"ownerReferences": [{"kind": "Set", "name": "owner", "controller": true}]
	},
	"spec": {
		"nodeName": "node-1", "replicas": 2, "security": {"user": 1, "group": "g"},
		"containers": [{"name": "a", "image": "i", "ports": [{"name": "web", "number": 81}]}],
		"volumes": {"data": {"path": "/data", "readOnly": true}},
		"args": ["-v"], "zones": [{"name": "y", "weight": 1}, {"name": "z", "weight": 6}],
		"priority": 1, "class": "c"
	},
	"status": {
		"phase": "Running", "ready": true, "startTime": "2024-05-01T09:00:00Z",
		"conditions": [{"type": "Ready", "status": "True", "reason": "r"}]
	}
}`

const sparse = `{
	"metadata": {"name": "blue", "namespace": "shop", "uid": "u", "resourceVersion": "7", "labels": {"app": "shop"}},
	"spec": {"nodeName": "node-1", "args": ["-q"]},
	"status": {"phase": "Failed", "conditions": [{"type": "Ready", "status": "False", "reason": "r"}]}
}`

const second = `{
	"metadata": {"name": "green", "namespace": "shop", "uid": "v", "resourceVersion": "8", "labels": {"app": "shop"}, "annotations": {"note": "x"}},
	"spec": {"nodeName": "node-2", "priority": 9, "containers": [{"name": "c", "image": "i", "ports": [{"name": "web", "number": 80}]}],
		"replicas": 1, "security": {"user": 2}, "volumes": {"data": {"path": "/x"}}, "args": ["-q"], "zones": [{}, {}]},
	"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False", "reason": "s"}]}
}`

// bases returns a full and a sparse base.
func bases() []*base {
	var all []*base
	for _, first := range []string{full, sparse} {
		of := &base{Same: []json.RawMessage{json.RawMessage(first), json.RawMessage(second)}}
		tree := decode(first)
		note := func(path string, shape bool, how string) {
			for _, p := range []string{".metadata.name", ".metadata.namespace", ".metadata.uid", ".metadata.resourceVersion"} {
				if path == p {
					return
				}
			}
			doc, err := json.Marshal(tree)
			if err != nil {
				panic(err)
			}
			of.Changed = append(of.Changed, []json.RawMessage{doc, json.RawMessage(second)})
			of.changes = append(of.changes, change{path, shape, how})
		}
		vary(tree, decode(full), "", note)
		all = append(all, of)
	}
	return all
}

func decode(doc string) (tree map[string]any) {
	if err := json.Unmarshal([]byte(doc), &tree); err != nil {
		panic(err)
	}
	return tree
}

// vary changes one part of tree after the other, calls note and changes it back. Parts that only
// other has are added.
func vary(tree, other any, path string, note func(path string, shape bool, how string)) {
	switch tree := tree.(type) {
	case map[string]any:
		in := "."
		if slices.Contains([]string{".metadata.labels", ".metadata.annotations", ".spec.volumes"}, path) {
			in = "[*]"
		}
		at := func(key string) string {
			if in == "[*]" {
				return path + in
			}
			return path + in + key
		}
		from, _ := other.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			old := tree[key]
			if changed, ok := varied(old); ok {
				tree[key] = changed
				note(at(key), false, fmt.Sprintf("%v → %v", old, changed))
				tree[key] = old
			}
			if list, ok := old.([]any); ok && at(key) != ".spec.zones" {
				tree[key] = append(slices.Clone(list), list[len(list)-1])
				note(at(key), true, "one more")
				tree[key] = old
			}
			vary(old, from[key], at(key), note)
		}
		for _, key := range slices.Sorted(maps.Keys(from)) {
			if _, ok := tree[key]; !ok {
				tree[key] = from[key]
				_, leaf := varied(from[key])
				note(at(key), !leaf || slices.Contains(pointers, at(key)), "added")
				delete(tree, key)
			}
		}
		if in == "[*]" {
			for _, key := range slices.Sorted(maps.Keys(tree)) {
				tree["zz"] = tree[key]
				note(path, true, "another key")
				delete(tree, "zz")
				break
			}
		}
	case []any:
		for i, old := range tree {
			if changed, ok := varied(old); ok {
				tree[i] = changed
				note(path+"[*]", false, fmt.Sprintf("%v → %v", old, changed))
				tree[i] = old
			}
			vary(old, nil, path+"[*]", note)
		}
	}
}

// pointers are fields of basic types that may be missing.
var pointers = []string{".spec.replicas", ".metadata.ownerReferences[*].controller", ".metadata.deletionTimestamp", ".status.startTime"}

// varied returns another value for a string, a number or a bool.
func varied(v any) (other any, ok bool) {
	switch v := v.(type) {
	case string:
		if strings.HasSuffix(v, "Z") {
			return strings.Replace(v, "2024", "2025", 1), true
		}
		return v + "~", true
	case float64:
		return v*7 + 1, true
	case bool:
		return !v, true
	}
	return nil, false
}
