// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"iter"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// entries returns the keys and values of a mapping; there are none in other nodes.
func entries(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		n := target(n)
		for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], target(n.Content[i+1])) {
				return
			}
		}
	}
}

// entry returns the key and the value of a mapping's entry, or nil.
func entry(n *yaml.Node, name string) (key, value *yaml.Node) {
	for key, value := range entries(n) {
		if key.Value == name {
			return key, value
		}
	}
	return nil, nil
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
