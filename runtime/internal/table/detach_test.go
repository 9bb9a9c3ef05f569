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

// TestDetachedKeysAreEqual copies keys of many forms; the copy must be found where the key is.
func TestDetachedKeysAreEqual(t *testing.T) {
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
		own := detached(key)
		if own != key || Hash(own) != Hash(key) {
			t.Errorf("the copy of %#v is %#v", key, own)
		}
	}
}

func TestKeyIsCopiedOnce(t *testing.T) {
	long := strings.Repeat("long", 1000)
	keys := byKeys("keys")
	table := mustNew(t, keys)
	first := newThing("ns", "first", long)
	objs := []*thing{newThing("ns", "a", long), newThing("ns", "b", long)}
	commit(table, first, objs[0], objs[1])
	bare := []*thing{newThing("ns", "a"), newThing("ns", "b")}
	var before, after runtime.MemStats
	const times = 100
	runtime.ReadMemStats(&before)
	for range times {
		commit(table, bare[0])
		commit(table, objs[0])
		commit(table, bare[1])
		commit(table, objs[1])
	}
	runtime.ReadMemStats(&after)
	if got := int(after.TotalAlloc-before.TotalAlloc) / times / 4; got > 2000 {
		t.Errorf("an update that enters a key of %d bytes, or leaves it, allocates %d", len(long), got)
	}
}

func TestRevisionsAreOrderedByAge(t *testing.T) {
	// In the order of their age.
	texts := []string{"", "0", "1", "9", "10", "007", "4711", "9999999999999999999", "18446744073709551615", "18446744073709551616", "99999999999999999999"}
	for i, a := range texts {
		if got := revisionOf(a).String(); got != a {
			t.Errorf("%q has become %q", a, got)
		}
		for j, b := range texts {
			if a == "007" || b == "007" || len(a) == 0 && len(b) == 0 {
				continue
			}
			if got := revisionOf(a).olderThan(revisionOf(b)); got != (i < j) {
				t.Errorf("%q is older than %q: %v", a, b, got)
			}
		}
	}
	large := revisionOf("42")
	if allocs := testing.AllocsPerRun(10, func() { large = revisionOf("184467440737095516") }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if large.number != 184467440737095516 || large.number > math.MaxInt64 {
		t.Errorf("the number is %d", large.number)
	}
}

// TestResourceVersionsKeepNoText gives namespaces versions that are pieces of large texts, as those
// of objects are.
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
		t.Errorf("%d namespaces keep %d bytes", namespaces, left)
	}
	if got := table.Version().NamespaceResourceVersion("namespace-7"); got != "07" {
		t.Errorf("a namespace stands at %q", got)
	}
}
