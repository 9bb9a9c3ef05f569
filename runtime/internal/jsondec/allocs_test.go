// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// TestDecodingAllocatesLittle counts allocations once the table has the Pods' parts.
func TestDecodingAllocatesLittle(t *testing.T) {
	program := mustProgram[corev1.Pod](t, dropped.Parts{ManagedFields: true})
	for _, tc := range []struct {
		name   string
		unique bool
		table  *share.Table
		limit  float64
	}{
		{"shared", false, share.New(64 << 20), 20},
		{"alone", false, nil, 75},
		{"nothing repeats", true, share.New(64 << 20), 42},
	} {
		pods := encodedPods(400, tc.unique)
		d := program.NewDecoder(tc.table, tc.table != nil)
		decode := func(pod []byte) {
			if _, ok := d.Decode(pod, &corev1.Pod{}); !ok {
				t.Fatal("the object is declined")
			}
		}
		for _, pod := range append(pods, pods...) {
			decode(pod)
		}
		i := 0
		got := testing.AllocsPerRun(len(pods), func() {
			decode(pods[i%len(pods)])
			i++
		})
		if t.Logf("%s: %v allocations per Pod", tc.name, got); got > tc.limit {
			t.Errorf("%s: decoding allocates %v times per Pod, want at most %v", tc.name, got, tc.limit)
		}
	}
}

// TestDecodingMakesLittleGarbage compares the allocated memory with that kept by the objects.
func TestDecodingMakesLittleGarbage(t *testing.T) {
	program := mustProgram[corev1.Pod](t, dropped.Parts{ManagedFields: true})
	for _, unique := range []bool{false, true} {
		inputs := encodedPods(4000, unique)
		table := share.New(64 << 20)
		d := program.NewDecoder(table, true)
		pods := make([]*corev1.Pod, len(inputs))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i, in := range inputs {
			pods[i] = &corev1.Pod{}
			if _, ok := d.Decode(in, pods[i]); !ok {
				t.Fatal("the object is declined")
			}
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		runtime.GC()
		runtime.ReadMemStats(&after)
		retained := after.HeapAlloc - before.HeapAlloc
		t.Logf("unique %v: %d bytes allocated per Pod, %d retained, of %d bytes of JSON", unique, int(allocated)/len(pods), int(retained)/len(pods), len(inputs[0]))
		if allocated > retained*11/10 {
			t.Errorf("unique %v: %d bytes allocated, want at most 1.1 times the %d retained", unique, allocated, retained)
		}
		runtime.KeepAlive(pods)
		runtime.KeepAlive(table)
		runtime.KeepAlive(d)
	}
}

// TestScratchMemoryIsBounded decodes an object with very many map entries.
func TestScratchMemoryIsBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"map":{`)
	for i := range 10000 {
		fmt.Fprintf(&text, `"%d":"",`, i)
	}
	text.WriteString(`"last":""}}`)
	d := mustProgram[kitchenSink](t, dropped.Parts{}).NewDecoder(nil, false)
	if o := mustDecode[kitchenSink](t, d, text.String()); len(o.Map) != 10001 {
		t.Errorf("the map has %d entries, want 10001", len(o.Map))
	}
	if n := cap(d.maps.entries); n > maxEntries {
		t.Errorf("capacity for %d entries is kept, want at most %d", n, maxEntries)
	}
}
