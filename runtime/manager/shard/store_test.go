// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTableIsStoredWhole(t *testing.T) {
	o := Options{Name: "widgets"}
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	names := []string{"", "a-k2", "b-x7", "c-0o"}
	for range 200 {
		want := table{version: "7", generation: rand.Uint64N(1000), settings: "ByKey, 8 buckets", duration: 15 * time.Second}
		var e entry
		for range 1 << rand.IntN(11) {
			if rand.IntN(3) == 0 {
				e = entry{names[rand.IntN(4)], rand.Uint64N(1e6), names[rand.IntN(4)], names[rand.IntN(4)], rand.IntN(2) == 0, rand.Int64N(2e9)}
			}
			want.buckets = append(want.buckets, e)
		}
		got, err := tableOf(newTableLease(&o, &want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
}

// TestLargestTableFits shows that a table of the most buckets, each with other members, is smaller
// than the annotations of an object may be.
func TestLargestTableFits(t *testing.T) {
	full := table{generation: 1 << 40, buckets: make([]entry, maxBuckets)}
	for b := range full.buckets {
		name := func(n int) string { return fmt.Sprintf("%s-%d", strings.Repeat("x", 60), (b+n)%200) }
		full.buckets[b] = entry{name(0), 1 << 40, name(1), name(2), true, 2e9}
	}
	const limit = 256 << 10
	if size := len(full.text()); size > limit/2 {
		t.Errorf("%d bytes, want at most half of %d", size, limit)
	}
}

func TestWrongTables(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "unexpected end of JSON input",
		`{"buckets":["x"]}`:                  `"x": `,
		`{"buckets":["1-2 1 0 0 0 0 0"]}`:    "does not fit",
		`{"buckets":["0-2 1 0 1 0 0 0"]}`:    "to 0 members",
		`{"buckets":["0-2000 1 0 0 0 0 0"]}`: "does not fit",
	} {
		_, err := tableOf(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "widgets-table", Annotations: map[string]string{tableAnnotation: text}}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "shop/widgets-table") {
			t.Errorf("%s: %v, want an error with %s", text, err, want)
		}
	}
}

func TestEpochs(t *testing.T) {
	for text, want := range map[string][]uint64{
		"":          {0, 0, 0, 0},
		"0-3@7":     {7, 7, 7, 7},
		"1@2 3@18":  {0, 2, 0, 18},
		"0-1@5 2@1": {5, 5, 1, 0},
	} {
		if got := parseEpochs(text, 4); !slices.Equal(got, want) || epochsText(want) != text {
			t.Errorf("%q: %v and %q, want %v", text, got, epochsText(want), want)
		}
	}
	if got := parseEpochs("x 1@y 2-9@3 @ 7@7 0-@1 -1@4", 4); !slices.Equal(got, []uint64{0, 0, 3, 3}) {
		t.Errorf("wrong parts: %v", got)
	}
}

func FuzzTable(f *testing.F) {
	f.Add(`{"generation":3,"members":["a","b"],"buckets":["0-31 1 0 1 0 2 0","32-63 2 0 2 1 0 1"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		read, err := tableOf(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{tableAnnotation: text}}})
		if err != nil {
			return
		}
		again, err := tableOf(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{tableAnnotation: read.text()}}})
		if err != nil || !reflect.DeepEqual(again, read) {
			t.Errorf("%+v, %v after writing %+v", again, err, read)
		}
	})
}
