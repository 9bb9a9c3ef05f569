// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestClonedKeysAreEqual clones keys of many types. A clone equals its key and has the same hash.
func TestClonedKeysAreEqual(t *testing.T) {
	type inner struct {
		_    string
		text types.UID
		more [2]any
	}
	number := 7
	for _, key := range []any{
		"", "text", types.UID("named"), 7, 1.5, true, nil, &number, make(chan int), [2]string{"a", ""}, [0]string{}, struct{}{},
		inner{}, inner{text: "x", more: [2]any{"y", inner{text: "z"}}}, struct{ Err error }{runtime.Error(nil)},
		struct{ In any }{[1]inner{{text: "deep"}}}, struct{ n *int }{&number}, types.NamespacedName{Namespace: "a", Name: "b"},
	} {
		own := cloneKey(key)
		if own != key || Hash(own) != Hash(key) {
			t.Errorf("cloneKey(%#v) = %#v", key, own)
		}
	}
}

func TestKeysAreClonedOnce(t *testing.T) {
	long := strings.Repeat("long", 1000)
	keys := byKeys("keys")
	table := mustNew(t, keys)
	first := newThing("ns", "first", long)
	objs := []*thing{newThing("ns", "a", long), newThing("ns", "b", long)}
	commit(table, first, objs[0], objs[1])
	withoutKeys := []*thing{newThing("ns", "a"), newThing("ns", "b")}
	var before, after runtime.MemStats
	const times = 100
	runtime.ReadMemStats(&before)
	for range times {
		commit(table, withoutKeys[0])
		commit(table, objs[0])
		commit(table, withoutKeys[1])
		commit(table, objs[1])
	}
	runtime.ReadMemStats(&after)
	if got := int(after.TotalAlloc-before.TotalAlloc) / times / 4; got > 2000 {
		t.Errorf("an update that enters or leaves a key of %d bytes allocates %d bytes, want at most 2000", len(long), got)
	}
}

func TestResourceVersionOrder(t *testing.T) {
	// in ascending order
	texts := []string{"", "0", "1", "9", "10", "007", "4711", "9999999999999999999", "18446744073709551615", "18446744073709551616", "99999999999999999999"}
	for i, a := range texts {
		if got := parseResourceVersion(a).String(); got != a {
			t.Errorf("parseResourceVersion(%q).String() = %q", a, got)
		}
		for j, b := range texts {
			if a == "007" || b == "007" || len(a) == 0 && len(b) == 0 {
				continue
			}
			if got := parseResourceVersion(a).olderThan(parseResourceVersion(b)); got != (i < j) {
				t.Errorf("%q olderThan %q = %v", a, b, got)
			}
		}
	}
	large := parseResourceVersion("42")
	if allocs := testing.AllocsPerRun(10, func() { large = parseResourceVersion("184467440737095516") }); allocs != 0 {
		t.Errorf("parseResourceVersion allocates %v times, want 0", allocs)
	}
	if large.number != 184467440737095516 || large.number > math.MaxInt64 {
		t.Errorf("parseResourceVersion(184467440737095516) has number %d", large.number)
	}
}

// TestResourceVersionsKeepNoText sets resourceVersions that are pieces of large texts, like those
// of decoded objects.
func TestResourceVersionsKeepNoText(t *testing.T) {
	const namespaces, size = 50, 500_000
	table := mustNew(t)
	before := heap()
	for i := range namespaces {
		for _, version := range []string{"1", "07"} {
			text := fmt.Sprint("namespace-", i, " ", version, strings.Repeat(" ", size))
			fields := strings.Fields(text)
			x := table.Begin()
			x.SetNamespaceResourceVersion(fields[0], fields[1])
			x.SetResourceVersion(fields[1])
			x.Publish()
		}
	}
	if left := heap() - before; left > namespaces*size/20 {
		t.Errorf("the versions of %d namespaces keep %d bytes, want at most %d", namespaces, left, namespaces*size/20)
	}
	if got := table.Version().NamespaceResourceVersion("namespace-7"); got != "07" {
		t.Errorf("NamespaceResourceVersion(namespace-7) = %q, want 07", got)
	}
}
