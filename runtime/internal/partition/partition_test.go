// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// rangesOf returns how many of n names made by name are in each of four equal ranges of a hash.
func rangesOf(n int, name func(n int) string, hash func(string) uint64) (ranges [4]int) {
	for i := range n {
		ranges[hash(name(i))>>62]++
	}
	return ranges
}

// TestRawHashSpreadsNamesBadly computes why namespaces are not selected by equal ranges of the API
// server's hash: its top bits hardly depend on the last characters of a name.
func TestRawHashSpreadsNamesBadly(t *testing.T) {
	numbered := func(n int) string { return fmt.Sprintf("ns-%d", n) }
	lettered := func(n int) string { return "tenant-" + string(rune('a'+n)) }
	teams := func(n int) string { return fmt.Sprintf("team-%03d", n) }
	for _, test := range []struct {
		name string
		n    int
		of   func(int) string
		most int // in one range
	}{{"ns-0 to ns-99", 100, numbered, 100}, {"tenant-a to tenant-z", 26, lettered, 26}, {"team-000 to team-999", 1000, teams, 500}} {
		raw := rangesOf(test.n, test.of, Hash)
		mixed := rangesOf(test.n, test.of, func(s string) uint64 { return Mix(Hash(s)) })
		t.Logf("%s: raw %v, mixed %v", test.name, raw, mixed)
		if most := max(raw[0], raw[1], raw[2], raw[3]); most != test.most {
			t.Errorf("%s: the fullest of four ranges has %d, want %d", test.name, most, test.most)
		}
		if most := max(mixed[0], mixed[1], mixed[2], mixed[3]); most*4 > test.n*3/2 {
			t.Errorf("%s: mixed, the fullest of four ranges has %d of %d, more than 1.5 times its share", test.name, most, test.n)
		}
	}
	if uids := rangesOf(10_000, func(int) string { return string(uuid.NewUUID()) }, Hash); max(uids[0], uids[1], uids[2], uids[3]) > 2750 {
		t.Errorf("UIDs: %v", uids)
	}
}

func TestBucketOf(t *testing.T) {
	owner := func(apiVersion, kind, name string, uid types.UID) *metav1.OwnerReference {
		return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: ptr.To(true)}
	}
	roots := []Root{{Group: "shop.example.com", Kind: "Database"}, {Group: "shop.example.com", Kind: "Fleet", ClusterScoped: true}}
	database := owner("shop.example.com/v1beta1", "Database", "orders", "u-1")
	for _, n := range []int{1, 2, 64, 1024} {
		namespaces, keys, uids := Partition{ByNamespace, n, nil}, Partition{ByKey, n, roots}, Partition{ByUID, n, roots}
		for _, same := range []struct {
			name      string
			partition Partition
			a, b      object.Meta
		}{
			{"one namespace", namespaces, object.Meta{Namespace: "a", Name: "x"}, object.Meta{Namespace: "a", Name: "y"}},
			{"a Namespace and its objects", namespaces, object.Meta{Namespace: "a", Name: "x"}, object.Meta{Name: "a"}},
			{"owned, by key", keys, object.Meta{Namespace: "a", Name: "orders"}, object.Meta{Namespace: "a", Name: "pod", Controller: database}},
			{"owned, by UID", uids, object.Meta{UID: "u-1"}, object.Meta{Namespace: "a", Name: "pod", UID: "u-2", Controller: database}},
			{"owned by what has no namespace", keys, object.Meta{Name: "all"}, object.Meta{Namespace: "a", Name: "pod", Controller: owner("shop.example.com/v1", "Fleet", "all", "u-3")}},
			{"owned by another kind", keys, object.Meta{Namespace: "a", Name: "pod"}, object.Meta{Namespace: "a", Name: "pod", Controller: owner("apps/v1", "Database", "orders", "u-3")}},
		} {
			a, b := same.partition.BucketOf(same.a), same.partition.BucketOf(same.b)
			if a != b || a < 0 || a >= n {
				t.Errorf("%s: %d and %d of %d", same.name, a, b, n)
			}
		}
		counts := make([]int, n)
		for i := range 100 * n {
			counts[keys.BucketOf(object.Meta{Namespace: "a", Name: fmt.Sprintf("pod-%d", i)})]++
		}
		for b, count := range counts {
			if count < 40 || count > 180 {
				t.Errorf("bucket %d of %d has %d of %d keys", b, n, count, 100*n)
			}
		}
	}
}

// TestUIDBucketsAreRanges shows that a bucket by UID is one range of the API server's hash.
func TestUIDBucketsAreRanges(t *testing.T) {
	p := Partition{ByUID, 64, nil}
	for range 1000 {
		uid := uuid.NewUUID()
		if b, want := p.BucketOf(object.Meta{UID: uid}), int(Hash(string(uid))/(1<<58)); b != want {
			t.Errorf("%s is in bucket %d, want %d", uid, b, want)
		}
	}
}

func TestSet(t *testing.T) {
	for range 200 {
		n := 1 << rand.IntN(9)
		want, other := map[int]bool{}, map[int]bool{}
		for range rand.IntN(n + 1) {
			want[rand.IntN(n)], other[rand.IntN(n)] = true, true
		}
		s, o := SetOf(n, func(b int) bool { return want[b] }), SetOf(n, func(b int) bool { return other[b] })
		if s != SetOf(2*n, func(b int) bool { return want[b] }) {
			t.Error("equal sets differ")
		}
		contains := true
		for b := range n {
			contains = contains && (want[b] || !other[b])
			if s.Has(b) != want[b] || s.Without(o).Has(b) != (want[b] && !other[b]) {
				t.Errorf("bucket %d of %d", b, n)
			}
		}
		count := 0
		for b := range s.All() {
			count++
			if !want[b] {
				t.Errorf("All yields %d", b)
			}
		}
		if count != s.Len() || s.Len() != len(want) || s.IsEmpty() != (len(want) == 0) || s.Contains(o) != contains || s.Has(-1) || s.Has(n) {
			t.Errorf("%v: %d, %v", want, s.Len(), s.Contains(o))
		}
	}
}
