// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// recordingProvider is a Provider that records its calls.
type recordingProvider struct {
	mu    sync.Mutex // guards the rest
	calls []string
	read  func() metrics.InformerState
	reads map[string]func() metrics.HandlerState
}

func (m *recordingProvider) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, fmt.Sprintf(format, args...))
}

// take returns the calls since the last take, sorted, as several goroutines make them.
func (m *recordingProvider) take() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.calls)
	calls := strings.Join(m.calls, ", ")
	m.calls = nil
	return calls
}

func (m *recordingProvider) BeginInformer(name string, read func() metrics.InformerState) metrics.InformerRecorder {
	m.note("begin %s", name)
	m.read, m.reads = read, map[string]func() metrics.HandlerState{}
	return m
}

func (m *recordingProvider) ListDone(took time.Duration, objects int) {
	m.note("list %v %d", took, objects)
}
func (m *recordingProvider) WatchDone(lasted time.Duration, events int) {
	m.note("watch %v %d", lasted, events)
}
func (m *recordingProvider) BatchDone(took time.Duration, changes int) {
	m.note("batch %v %d", took, changes)
}
func (m *recordingProvider) Failed(reason string) { m.note("failed %s", reason) }
func (m *recordingProvider) Close()               { m.note("end") }

func (m *recordingProvider) BeginHandler(name string, read func() metrics.HandlerState) metrics.HandlerRecorder {
	m.note("begin handler %s", name)
	m.reads[name] = read
	return handlerProvider{m, name}
}

type handlerProvider struct {
	*recordingProvider
	name string
}

func (h handlerProvider) CallbackDone(took time.Duration, panicked bool) {
	h.note("%s took %v, panicked: %v", h.name, took, panicked)
}
func (h handlerProvider) Close() { h.note("end handler %s", h.name) }

// TestTotalsOfRemovedNamespaces shows that totals don't shrink when a namespace is removed.
func TestTotalsOfRemovedNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &memoryFile{}
		r := newRigOf(t, Config{
			FileOf: func(string, source.Source[object.Object], uintptr) (intake.StateFile, error) { return file, nil },
		}, "one", "two")
		defer r.start()()
		r.feedTo(1, "[ =a@1 ]@2")
		r.intake.SaveAll(klog.Background(), false)
		reader, g := r.readers[1], newGate()
		reader.steps <- func(*intake.Sink) error { g.wait(""); return nil }
		counts := func(relists int64) {
			t.Helper()
			synctest.Wait()
			reader.mu.Lock()
			reader.status = reflector.Status{Relists: relists, BadData: 2}
			reader.mu.Unlock()
			if got := r.measure(); got.Relists != relists || got.BadData != 2 || got.Checkpoint.Writes != 1 {
				t.Errorf("measure() = %+v, want %d relists", got, relists)
			}
		}
		counts(3)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.RemoveNamespace(ctx, "two"); err == nil {
			t.Error("RemoveNamespace has returned nil before the reader")
		}
		g.open()
		synctest.Wait()
		if got := r.measure(); got.Relists != 3 || got.BadData != 2 || got.Checkpoint.Writes != 1 {
			t.Errorf("after the removal: %+v", got)
		}
	})
}

func TestMetricsOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &recordingProvider{}
		one, two := newServer("one"), newServer("two")
		one.has("a@1 b@2")
		failing := false
		r := newSourceRig(t, Config{Metrics: m, Transform: func(obj object.Object) (object.Object, error) {
			if failing {
				return nil, errStop
			}
			return obj, nil
		}}, one, two)
		start := time.Now()
		h := newRecorder(t)
		h.before = func(event string) {
			time.Sleep(time.Second)
			if event == "~a@3" {
				panic("oops")
			}
		}
		r.add(h, handlerConfig)
		stop := r.start()
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := m.take(); got != want {
				t.Errorf("calls %s\nwant  %s", got, want)
			}
		}
		expect("batch 0s 0, batch 0s 2, begin handler recorder, begin things, list 0s 0, list 0s 2")
		if got := m.reads["recorder"](); got.Synced || got.Backlog != 1 || !got.CallbackSince.Equal(start) || !got.WaitingSince.Equal(start) {
			t.Errorf("state of the handler: %+v", got)
		}
		time.Sleep(2 * time.Second)
		expect("recorder took 1s, panicked: false, recorder took 1s, panicked: false")
		for word := range strings.FieldsSeq("~a@3 +c@4 |@5 -c@6") {
			one.feed(word) // one batch each
		}
		expect("batch 0s 0, batch 0s 1, batch 0s 1, batch 0s 1")
		if got := m.reads["recorder"](); !got.Synced || got.Backlog != 2 || !got.WaitingSince.Equal(start.Add(2*time.Second)) {
			t.Errorf("state of the handler: %+v", got)
		}
		want := metrics.InformerState{
			Objects: 2, Synced: true, Watching: true, ResourceVersion: "1", LastBookmark: start, Listed: 2,
			Events: metrics.EventTotals{Added: 1, Modified: 1, Deleted: 1, Bookmark: 1},
		}
		if got := m.read(); got != want {
			t.Errorf("state %+v\nwant %+v", got, want)
		}
		time.Sleep(3 * time.Second)
		expect("recorder took 1s, panicked: false, recorder took 1s, panicked: false, recorder took 1s, panicked: true")
		if got := m.reads["recorder"](); got.Backlog != 0 || !got.WaitingSince.IsZero() {
			t.Errorf("state of the handler: %+v", got)
		}
		failing = true
		two.feed("+x@9")
		expect("failed " + reason.Transform.String() + ", watch 5s 0")
		if got := m.read(); got.BadData != 1 {
			t.Errorf("state %+v, want 1 bad object", got)
		}
		stop()
		expect("end, end handler recorder, watch 0s 0, watch 5s 4")
		if got := m.read(); got.Watching || got.Objects != 2 {
			t.Errorf("state after the end %+v", got)
		}
	})
}

// TestMetricsOfMergedEvents shows that a merged event is as old as the oldest of its events.
func TestMetricsOfMergedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &recordingProvider{}
		r := newRigOf(t, Config{Metrics: m}, "")
		h, g := newRecorder(t), newGate()
		h.before = g.wait
		r.add(h, fanout.HandlerConfig{Name: "recorder", Threshold: 0})
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		start := time.Now()
		r.feed("+b@2")
		time.Sleep(time.Second)
		r.feed("~b@3 ~a@4")
		if got := m.reads["recorder"](); got.Backlog != 2 || !got.Merging || !got.WaitingSince.Equal(start) {
			t.Errorf("state of the handler: %+v", got)
		}
		g.pass()
		g.pass() // in a
		if got := m.reads["recorder"](); got.Backlog != 0 || !got.WaitingSince.IsZero() {
			t.Errorf("state of the handler: %+v", got)
		}
		g.open()
	})
}
