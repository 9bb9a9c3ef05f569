// SPDX-License-Identifier: Apache-2.0

// Package shard reads and writes shard selectors (KEP-5866), and matches objects with them.
package shard

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Shard is the part of a collection named by a selector: the objects whose UID or namespace hashes,
// by 64-bit FNV-1a, into one of the ranges. A nil Shard has every object.
type Shard struct {
	byNamespace bool    // else by UID
	ranges      []Range // ascending, with gaps between them
}

const (
	fieldUID       = "object.metadata.uid"
	fieldNamespace = "object.metadata.namespace"
)

// Parse parses shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || … It
// returns nil for a selector of only spaces.
func Parse(selector string) (*Shard, error) {
	if strings.TrimSpace(selector) == "" {
		return nil, nil
	}
	s := &Shard{}
	for i, term := range strings.Split(selector, "||") {
		term = strings.TrimSpace(term)
		args, ok := strings.CutPrefix(strings.TrimSuffix(term, ")"), "shardRange(")
		if !ok || !strings.HasSuffix(term, ")") {
			return nil, fmt.Errorf("the shard selector's %q is not of the form shardRange(object.metadata.uid, '0x…', '0x…')", term)
		}
		parts := strings.Split(args, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("the shard selector's %q has %d arguments, want 3", term, len(parts))
		}
		field := strings.TrimSpace(parts[0])
		if field != fieldUID && field != fieldNamespace {
			return nil, fmt.Errorf("the shard selector's field %q is neither %s nor %s", field, fieldUID, fieldNamespace)
		}
		byNamespace := field == fieldNamespace
		if i > 0 && byNamespace != s.byNamespace {
			return nil, fmt.Errorf("the shard selector %q has two fields; all its ranges must use the same one", selector)
		}
		first, firstOverflows, err := parseBound(parts[1])
		if err != nil {
			return nil, err
		}
		end, endOverflows, err := parseBound(parts[2])
		if err != nil {
			return nil, err
		}
		if firstOverflows || !endOverflows && end <= first {
			return nil, fmt.Errorf("the shard selector's %q is empty: the start must be less than the end", term)
		}
		s.byNamespace = byNamespace
		// 2^64 overflows to 0, and end - 1 is then the largest number
		s.ranges = append(s.ranges, Range{first, end - 1})
	}
	s.ranges = merge(s.ranges)
	return s, nil
}

// parseBound parses a quoted number of 16 hexadecimal digits. overflows is true for 2^64, the only
// valid number of 17 digits.
func parseBound(text string) (n uint64, overflows bool, err error) {
	text = strings.TrimSpace(text)
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		text = text[1 : len(text)-1]
		if text == "0x10000000000000000" {
			return 0, true, nil
		}
		if hex, ok := strings.CutPrefix(text, "0x"); ok && len(hex) == 16 && strings.ToLower(hex) == hex {
			if n, err := strconv.ParseUint(hex, 16, 64); err == nil {
				return n, false, nil
			}
		}
	}
	return 0, false, fmt.Errorf("the shard selector's bound %s is not a quoted number of 16 lower-case hexadecimal digits, such as '0x8000000000000000'", text)
}

// Has reports whether an object is in the shard. The answer never changes, as UID and namespace
// don't. It takes logarithmic time in the number of ranges.
func (s *Shard) Has(uid, namespace string) bool {
	if s == nil {
		return true
	}
	if s.byNamespace {
		uid = namespace
	}
	hash := Hash(uid)
	n := sort.Search(len(s.ranges), func(n int) bool { return s.ranges[n].Last >= hash })
	return n < len(s.ranges) && s.ranges[n].First <= hash
}
