// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"fmt"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// BenchmarkCallbackDone measures what a Provider adds to each call of a handler, besides reading
// the clock.
func BenchmarkCallbackDone(b *testing.B) {
	p, _ := newProvider(b)
	i := &fake{}
	h := p.BeginInformer("widgets", i.read).BeginHandler("queue", i.readHandler)
	b.ReportAllocs()
	for b.Loop() {
		h.CallbackDone(20*time.Microsecond, false)
	}
}

// BenchmarkBatchDone measures what a Provider adds to each batch.
func BenchmarkBatchDone(b *testing.B) {
	p, _ := newProvider(b)
	i := &fake{}
	run := p.BeginInformer("widgets", i.read)
	b.ReportAllocs()
	for b.Loop() {
		run.BatchDone(time.Millisecond, 10)
	}
}

// BenchmarkScrape is one scrape of 50 informers with 2 handlers each.
func BenchmarkScrape(b *testing.B) {
	p, registry := newProvider(b)
	for n := range 50 {
		i := &fake{state: metrics.InformerState{ResourceVersion: "1"}}
		run := p.BeginInformer(fmt.Sprint("informer", n), i.read)
		run.BeginHandler("a", i.readHandler)
		run.BeginHandler("b", i.readHandler)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNames shows the memory that is kept for the name of an informer and of one handler, in
// B/op.
func BenchmarkNames(b *testing.B) {
	p, _ := newProvider(b)
	i := &fake{}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		run := p.BeginInformer(fmt.Sprint("informer", n), i.read)
		run.BeginHandler("queue", i.readHandler).Close()
		run.Close()
		n++
	}
}
