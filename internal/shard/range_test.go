// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestHash(t *testing.T) {
	for _, text := range []string{"", "a", "kube-system", strings.Repeat("long ", 100), "\x00\xff"} {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text))
		half := len(text) / 2
		if got, joined := Hash(text), Hash(text[:half], "", text[half:]); got != h.Sum64() || joined != got {
			t.Errorf("Hash(%q) = %x, in parts %x, want %x", text, got, joined, h.Sum64())
		}
	}
}

func TestMerge(t *testing.T) {
	const most = math.MaxUint64
	for text, ranges := range map[string][]Range{
		"[]": nil, "[{1 2}]": {{1, 2}}, "[{1 4}]": {{3, 4}, {1, 2}}, "[{1 2} {4 5}]": {{4, 5}, {1, 2}}, "[{1 9}]": {{1, 9}, {3, 4}, {9, 9}},
		"[{0 18446744073709551615}]": {{5, most}, {0, 7}, {most, most}}, "[{3 18446744073709551615}]": {{most, most}, {3, most - 1}},
	} {
		if got := fmt.Sprint(merge(ranges)); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

// TestPoints writes and reads selectors of namespaces, up to 400 of them.
func TestPoints(t *testing.T) {
	for _, n := range []int{0, 1, 2, 400} {
		var namespaces []string
		for i := range n {
			namespaces = append(namespaces, fmt.Sprintf("team-%03d", i*2))
		}
		s, err := Parse(ByNamespace(namespaces...))
		if err != nil || len(s.ranges) != max(n, 1) {
			t.Fatalf("%d namespaces: %v, %v", n, s, err)
		}
		for i := range 2*n + 2 {
			ns := fmt.Sprintf("team-%03d", i)
			if got, want := s.Has("any", ns), slices.Contains(namespaces, ns); got != want {
				t.Errorf("%d namespaces: Has(%s) = %v, want %v", n, ns, got, want)
			}
		}
	}
}

// TestManyRanges compares Has with a loop over random ranges.
func TestManyRanges(t *testing.T) {
	var ranges []Range
	for range 300 {
		first := rand.Uint64()
		ranges = append(ranges, Range{first, first + min(rand.Uint64N(1<<56), math.MaxUint64-first)})
	}
	s, err := Parse(ByUID(ranges...))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for n := range 1000 {
		uid := fmt.Sprint("uid-", n)
		hash := Hash(uid)
		want := slices.ContainsFunc(ranges, func(r Range) bool { return r.First <= hash && hash <= r.Last })
		if got := s.Has(uid, "ns"); got != want {
			t.Errorf("Has(%s) = %v, want %v", uid, got, want)
		}
		if want {
			found++
		}
	}
	if found == 0 || found == 1000 {
		t.Errorf("%d of 1000 uids are in the shard, want some", found)
	}
}

func BenchmarkHas(b *testing.B) {
	for _, n := range []int{1, 400} {
		b.Run(fmt.Sprint("ranges=", n), func(b *testing.B) {
			var namespaces []string
			for i := range n {
				namespaces = append(namespaces, fmt.Sprintf("team-%03d", i))
			}
			s, err := Parse(ByNamespace(namespaces...))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Has("", "team-200")
			}
		})
	}
}
