// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Range is a range of hashes. It includes both ends.
type Range struct{ First, Last uint64 }

// Hash returns the 64-bit FNV-1a hash of the texts, joined, by which API servers select shards.
func Hash(texts ...string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := uint64(offset)
	for _, text := range texts {
		for i := range len(text) {
			hash = (hash ^ uint64(text[i])) * prime
		}
	}
	return hash
}

// ByUID returns the selector of the objects whose UIDs have hashes in the ranges. Without any, it
// is that of hash 0, because a selector of nothing can't be written.
func ByUID(ranges ...Range) string { return format(fieldUID, ranges) }

// ByNamespace returns the selector of the objects in the namespaces, and in others with equal
// hashes. Without any, it is that of hash 0.
func ByNamespace(namespaces ...string) string {
	points := make([]Range, 0, len(namespaces))
	for _, ns := range namespaces {
		points = append(points, Range{Hash(ns), Hash(ns)})
	}
	return format(fieldNamespace, points)
}

// format writes few spaces, because a URL with a selector may be long.
func format(field string, ranges []Range) string {
	if len(ranges) == 0 {
		ranges = []Range{{}}
	}
	var b strings.Builder
	for n, r := range merge(slices.Clone(ranges)) {
		if n > 0 {
			b.WriteString("||")
		}
		end := "0x10000000000000000"
		if r.Last < math.MaxUint64 {
			end = fmt.Sprintf("0x%016x", r.Last+1)
		}
		fmt.Fprintf(&b, "shardRange(%s,'0x%016x','%s')", field, r.First, end)
	}
	return b.String()
}

// merge sorts ranges, and joins those that overlap or follow each other.
func merge(ranges []Range) []Range {
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	merged := ranges[:0]
	for _, r := range ranges {
		if n := len(merged); n > 0 && (merged[n-1].Last == math.MaxUint64 || r.First <= merged[n-1].Last+1) {
			merged[n-1].Last = max(merged[n-1].Last, r.Last)
		} else {
			merged = append(merged, r)
		}
	}
	return merged
}
