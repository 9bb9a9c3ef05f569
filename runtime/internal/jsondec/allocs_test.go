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

// TestDecodingAllocatesLittle: what doesn't depend on the machine. The Pods are known to the table
// when the counting begins.
func TestDecodingAllocatesLittle(t *testing.T) {
	program := mustProgram[corev1.Pod](t, dropped.Parts{ManagedFields: true})
	for _, tc := range []struct {
		name   string
		unique bool
		table  *share.Table
		most   float64
	}{
		{"shared", false, share.New(64 << 20), 20},
		{"alone", false, nil, 75},
		{"nothing repeats", true, share.New(64 << 20), 42},
	} {
		pods := somePods(400, tc.unique)
		d := program.NewDecoder(tc.table, tc.table != nil)
		decode := func(pod []byte) {
			if _, ok := d.Decode(pod, &corev1.Pod{}); !ok {
				t.Fatal("refused")
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
		if t.Logf("%s: %v allocations per Pod", tc.name, got); got > tc.most {
			t.Errorf("%s: %v allocations per Pod, at most %v are expected", tc.name, got, tc.most)
		}
	}
}

// TestAllocatedIsRetained: decoding makes hardly any garbage.
func TestAllocatedIsRetained(t *testing.T) {
	program := mustProgram[corev1.Pod](t, dropped.Parts{ManagedFields: true})
	for _, unique := range []bool{false, true} {
		inputs := somePods(4000, unique)
		table := share.New(64 << 20)
		d := program.NewDecoder(table, true)
		pods := make([]*corev1.Pod, len(inputs))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i, in := range inputs {
			pods[i] = &corev1.Pod{}
			if _, ok := d.Decode(in, pods[i]); !ok {
				t.Fatal("refused")
			}
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		runtime.GC()
		runtime.ReadMemStats(&after)
		retained := after.HeapAlloc - before.HeapAlloc
		t.Logf("unique %v: %d bytes allocated per Pod, %d retained, of %d bytes of JSON", unique, int(allocated)/len(pods), int(retained)/len(pods), len(inputs[0]))
		if allocated > retained*11/10 {
			t.Errorf("unique %v: %d bytes allocated, %d retained", unique, allocated, retained)
		}
		runtime.KeepAlive(pods)
		runtime.KeepAlive(table)
		runtime.KeepAlive(d)
	}
}

// TestDecoderKeepsLittleRoom after an object with very many entries of maps.
func TestDecoderKeepsLittleRoom(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"map":{`)
	for i := range 10000 {
		fmt.Fprintf(&text, `"%d":"",`, i)
	}
	text.WriteString(`"last":""}}`)
	d := mustProgram[kitchen](t, dropped.Parts{}).NewDecoder(nil, false)
	if o := mustDecode[kitchen](t, d, text.String()); len(o.Map) != 10001 {
		t.Errorf("%d entries", len(o.Map))
	}
	if n := cap(d.maps.entries); n > maxEntries {
		t.Errorf("room for %d entries is kept", n)
	}
}
