// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/store"
)

type (
	color string
	place = store.NamespacedKey[color]
)

// One index for each kind of key and of key function: optional, plain, several with duplicates,
// within a namespace.
var (
	byColor = store.NewIndex("ByColor", colors)
	bySize  = store.NewIndex("BySize", sizes)
	byTags  = store.NewIndex("ByTags", tags)
	byPlace = store.NewIndex("ByPlace", places)
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

func places(obj Object, keys []place) []place {
	return append(keys, place{Namespace: obj.Namespace, Key: color(obj.Labels["color"])})
}
