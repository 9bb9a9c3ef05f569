// SPDX-License-Identifier: Apache-2.0

// Package keys has index functions of kinds that it doesn't declare.
package keys

import v1 "github.com/informer-gen/informer-gen/internal/generator/shapes/v1"

// Pairs returns the pairs of x and, once more, the first one.
func Pairs(x *v1.Shape) []v1.Pair {
	pairs := append([]v1.Pair(nil), x.Spec.Pairs...)
	if len(pairs) > 0 {
		pairs = append(pairs, pairs[0])
	}
	return pairs
}
