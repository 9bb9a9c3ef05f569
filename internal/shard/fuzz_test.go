// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
)

// FuzzParse checks that an accepted selector matches by its ranges, and that a selector formatted
// from these ranges matches the same objects.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", " ", "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')", `shardRange(object.metadata.namespace,"0x8000000000000000","0x10000000000000000")`,
		"shardRange(object.metadata.uid,'0x0000000000000000','0x0000000000000001')||shardRange(object.metadata.uid,'0xffffffffffffffff','0x10000000000000000')",
		"shardRange(a,b", "||", "shardRange(object.metadata.uid, '0x8', '0x9')", "shardRange())", "shardRange(object.metadata.uid,'0x10000000000000000','0x10000000000000000')",
	} {
		f.Add(text, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "shop")
	}
	f.Fuzz(func(t *testing.T, text, uid, namespace string) {
		s, err := Parse(text)
		if err != nil || s == nil {
			if (err == nil) != (strings.TrimSpace(text) == "") {
				t.Errorf("Parse(%q) = %v, %v", text, s, err)
			}
			return
		}
		field, hashed := fieldUID, uid
		if s.byNamespace {
			field, hashed = fieldNamespace, namespace
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(hashed))
		want := false
		var terms []string
		for _, r := range s.ranges {
			if r.First > r.Last {
				t.Errorf("Parse(%q) has an empty range", text)
			}
			want = want || h.Sum64()-r.First <= r.Last-r.First
			end := fmt.Sprintf("0x%016x", r.Last+1)
			if r.Last+1 == 0 {
				end = "0x10000000000000000"
			}
			terms = append(terms, fmt.Sprintf("shardRange(%s, '0x%016x', '%s')", field, r.First, end))
		}
		again, err := Parse(strings.Join(terms, " || "))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Has(uid, namespace); got != want || again.Has(uid, namespace) != want {
			t.Errorf("Parse(%q).Has(%q, %q) = %v, want %v", text, uid, namespace, got, want)
		}
	})
}
