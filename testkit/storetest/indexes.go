// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/store"
)

type (
	color      string
	localColor = store.NamespacedKey[color]
)

// One index for each kind of key function: optional key, one key, several with duplicates, keys
// within a namespace.
var (
	byColor      = store.NewIndex("ByColor", colors)
	bySize       = store.NewIndex("BySize", sizes)
	byTags       = store.NewIndex("ByTags", tags)
	byLocalColor = store.NewIndex("ByLocalColor", localColors)
)

func colors(obj Object, keys []color) []color {
	if c, ok := obj.Labels["color"]; ok {
		keys = append(keys, color(c))
	}
	return keys
}

func sizes(obj Object, keys []int) []int {
	size, _ := strconv.Atoi(obj.Labels["size"])
	return append(keys, size)
}

func tags(obj Object, keys []string) []string {
	return append(keys, strings.Split(obj.Labels["tags"], ".")...)
}

func localColors(obj Object, keys []localColor) []localColor {
	return append(keys, localColor{Namespace: obj.Namespace, Key: color(obj.Labels["color"])})
}
