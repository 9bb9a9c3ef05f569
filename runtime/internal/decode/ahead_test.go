// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// tiny has everything decoded ahead, in buffers so small that items end everywhere in them.
var tiny = tuning{procs: 3, ahead: 2000, batch: 300, sizes: sizes{idle: 48, small: 64, chunk: 150, least: 7}}

// talk is the body of a response that comes in parts. An empty part is a pause of a minute.
type talk struct {
	parts  []string
	read   atomic.Int64 // bytes
	closed chan struct{}
	once   sync.Once
}

func newTalk(parts ...string) *talk { return &talk{parts: parts, closed: make(chan struct{})} }

// silence is a part after which nothing comes until the body is closed.
const silence = "\x00"

func (b *talk) Read(p []byte) (int, error) {
	for len(b.parts) > 0 && b.parts[0] == "" {
		b.parts = b.parts[1:]
		select {
		case <-time.After(time.Minute):
		case <-b.closed:
		}
	}
	select {
	case <-b.closed:
		return 0, errors.New("the body is closed")
	default:
	}
	if len(b.parts) == 0 {
		return 0, io.EOF
	}
	if b.parts[0] == silence {
		<-b.closed
		return 0, errors.New("the body is closed")
	}
	n := copy(p, b.parts[0])
	if b.parts[0] = b.parts[0][n:]; b.parts[0] == "" {
		b.parts = b.parts[1:]
	}
	b.read.Add(int64(n))
	return n, nil
}

func (b *talk) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

func manyEvents(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(podtest.Event("ADDED", podtest.WithKind(podtest.Large(i+1))) + "\n")
	}
	return b.String()
}

// TestAheadKeepsTheOrder: whatever the buffers are, objects come in the stream's order, whole.
func TestAheadKeepsTheOrder(t *testing.T) {
	for _, chunk := range []int{100, 5000, 20000} {
		how := tiny
		how.sizes.chunk = chunk
		n := 0
		body := strings.SplitAfter(manyEvents(500), "5d4f")
		err := said(t, newTalk(body...), how).Watch(t.Context(), Promises{ReadOnly: true}, func(e Event[*corev1.Pod]) error {
			if n++; e.Object.Name != fmt.Sprint("web-", n) || e.ResourceVersion != fmt.Sprint(n) || len(e.Object.Spec.Containers) != 1 {
				return fmt.Errorf("event %d is of %s", n, e.Object.Name)
			}
			return nil
		})
		if err != nil || n != 500 {
			t.Errorf("chunks of %d: %d events of 500, %v", chunk, n, err)
		}
	}
}

// TestAheadWaitsForNothing: an event that has arrived is handed over although nothing more comes,
// and so is each one after a pause. After it, the stream is read by the caller alone.
func TestAheadWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		how := tiny
		how.after = 10_000
		first := manyEvents(100)
		one := podtest.Event("MODIFIED", podtest.WithKind(podtest.Large(101))) + "\n"
		body := newTalk(first+one[:50], "", one[50:], "", one, "", one)
		start, n := time.Now(), 0
		before := runtime.NumGoroutine()
		err := said(t, body, how).Watch(t.Context(), Promises{}, func(Event[*corev1.Pod]) error {
			n++
			if got, want := time.Since(start), time.Duration(max(0, n-100))*time.Minute; got != want {
				t.Errorf("event %d after %v, want %v", n, got, want)
			}
			if n > 101 && runtime.NumGoroutine() > before {
				t.Errorf("event %d: %d goroutines, %d before", n, runtime.NumGoroutine(), before)
			}
			return nil
		})
		if err != nil || n != 103 {
			t.Errorf("%d events, %v", n, err)
		}
	})
}

// TestAheadIsBounded: while the callback blocks, no more is read than the bound.
func TestAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		how := tiny
		how.ahead, how.sizes.chunk = 50_000, 10_000
		body := newTalk(manyEvents(500))
		n := 0
		err := said(t, body, how).Watch(t.Context(), Promises{}, func(Event[*corev1.Pod]) error {
			if n++; n%100 == 1 {
				before := body.read.Load()
				time.Sleep(time.Hour)
				synctest.Wait()
				if read := body.read.Load() - before; read > int64(how.ahead) {
					t.Errorf("%d bytes were read during a callback", read)
				}
			}
			return nil
		})
		if err != nil || n != 500 {
			t.Errorf("%d events, %v", n, err)
		}
	})
}

// TestAheadStops: when the callback fails, or panics, or ends its goroutine, nothing goes on, even
// if the body is silent. goleak and the bubble find what would.
func TestAheadStops(t *testing.T) {
	enough := errors.New("enough")
	for name, stop := range map[string]func(context.CancelCauseFunc) error{
		"error":  func(context.CancelCauseFunc) error { return enough },
		"cancel": func(cancel context.CancelCauseFunc) error { cancel(enough); return nil },
		"panic":  func(context.CancelCauseFunc) error { panic(enough) },
		"Goexit": func(context.CancelCauseFunc) error { runtime.Goexit(); return nil },
	} {
		for _, at := range []int{1, 40, 100} {
			t.Run(fmt.Sprint(name, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					body := newTalk(manyEvents(100), silence)
					defer context.AfterFunc(ctx, func() { body.Close() })() // as net/http does
					n, returned := 0, false
					done := make(chan struct{})
					go func() {
						defer close(done)
						defer func() {
							if reason := recover(); name == "panic" && reason != enough {
								t.Errorf("got the panic %v", reason)
							}
						}()
						err := said(t, body, tiny).Watch(ctx, Promises{}, func(Event[*corev1.Pod]) error {
							if n++; n == at {
								return stop(cancel)
							}
							return nil
						})
						if returned = true; err != enough {
							t.Errorf("got %v", err)
						}
					}()
					<-done
					synctest.Wait()
					if n != at || returned != (name == "error" || name == "cancel") {
						t.Errorf("%d events, returned %v", n, returned)
					}
				})
			})
		}
	}
}

// wild is decoded by a method that does what it is told.
type wild struct{ corev1.Pod }

func (w *wild) UnmarshalJSON(data []byte) error {
	if err := unmarshalJSON(data, &w.Pod); err != nil {
		return err
	}
	switch w.Name {
	case "panics":
		panic("on purpose")
	case "exits":
		runtime.Goexit()
	}
	return nil
}

// TestAheadDecodersThatDontReturn: what a type's own method does to its goroutine happens to the
// caller's, when its turn or that of the event before it comes.
func TestAheadDecodersThatDontReturn(t *testing.T) {
	for _, what := range []string{"panics", "exits"} {
		body := strings.Repeat(podtest.Event("ADDED", podtest.KindPod("a", "1")), 50) + podtest.Event("ADDED", podtest.KindPod(what, "1")) + strings.Repeat(podtest.Event("ADDED", podtest.KindPod("a", "1")), 50)
		s := serveIn(t, JSON, []byte(body), func() *wild { return &wild{} }, Options{Kind: "Pod"})
		var all decodeLoad
		s.codec.tuning = tuning{procs: 3, ahead: 20_000, batch: 300, sizes: sizes{idle: 500, small: 1000, chunk: 2000, least: 100}, load: &all}
		for range 20 {
			n, reason := 0, any(nil)
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { reason = recover() }()
				err := s.Watch(context.Background(), Promises{}, func(Event[*wild]) error { n++; return nil })
				t.Errorf("Watch returns %v", err)
			}()
			<-done
			if n != 50 && n != 49 || (what == "panics") != (reason == "on purpose") {
				t.Errorf("an object that %s: %d events, %v", what, n, reason)
			}
			if all.streams.Load() != 0 || all.helpers.Load() != 0 {
				t.Fatalf("an object that %s: %d streams and %d helpers are counted after it", what, all.streams.Load(), all.helpers.Load())
			}
		}
	}
}

// TestAheadFailures: what is wrong is reported with its place, after all that came before it.
func TestAheadFailures(t *testing.T) {
	good := manyEvents(60)
	reset := errors.New("connection reset by peer")
	for name, tc := range map[string]struct {
		body io.ReadCloser
		is   error
	}{
		"wrong kind":  {newTalk(good + podtest.Event("ADDED", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","resourceVersion":"3"}}`) + good), ErrWrongKind},
		"not JSON":    {newTalk(good + `{"type":"ADDED","object":{]}}` + good), nil},
		"no event":    {newTalk(good + `[]` + good), ErrMalformed},
		"cut off":     {newTalk(good + good[:100]), io.ErrUnexpectedEOF},
		"broken":      {brokenBody{strings.NewReader(good + good[:100]), reset}, reset},
		"broken here": {brokenBody{strings.NewReader(good), reset}, reset},
	} {
		n := 0
		err := said(t, tc.body, tiny).Watch(t.Context(), Promises{}, func(Event[*corev1.Pod]) error { n++; return nil })
		if n != 60 || err == nil || tc.is != nil && !errors.Is(err, tc.is) {
			t.Errorf("%s: %d events and %v", name, n, err)
		}
		var failed *Error
		var broken *BrokenError
		switch {
		case errors.As(err, &failed):
			if failed.Item != 61 || failed.Offset < int64(len(good)) || failed.Offset > int64(len(good)+120) || name == "wrong kind" && failed.Key.Name != "n" {
				t.Errorf("%s: event %d of %s, offset %d; the 61st event begins at %d", name, failed.Item, failed.Key, failed.Offset, len(good))
			}
		case !errors.As(err, &broken):
			t.Errorf("%s: got %T", name, err)
		}
	}
}

// TestMoreMeansThatTheNextEventHasCome: an event says that another one has come, unless it may not
// be handed over.
func TestMoreMeansThatTheNextEventHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := podtest.Event("ADDED", podtest.KindPod("a", "1"))
		events := one + one + one
		for name, how := range map[string]tuning{"alone": {procs: 1, sizes: defaultTuning.sizes}, "ahead": tiny} {
			var got []bool
			last := time.Now()
			body := newTalk(events+one[:50], "", one[50:]+one+one+podtest.Bookmark)
			err := said(t, body, how).Watch(t.Context(), Promises{}, func(e Event[*corev1.Pod]) error {
				if n := len(got); n > 0 && got[n-1] && time.Now() != last {
					t.Errorf("%s: there were not more after event %d", name, n)
				}
				got, last = append(got, e.More), time.Now()
				synctest.Wait() // what can be done ahead is done
				return nil
			})
			if text := fmt.Sprint(got); err != nil || len(got) != 7 || name == "alone" && text != "[true true false true true true false]" {
				t.Errorf("%s: %s, %v", name, text, err)
			}
		}
		events = manyEvents(3)
		s := serveIn(t, JSON, []byte(events), func() *corev1.Pod { return &corev1.Pod{} },
			Options{ShardSelector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"})
		all, err := watchAll(s)
		for _, e := range all {
			if e.More {
				t.Error("more, which may be of another shard")
			}
		}
		if err != nil || len(all) == 0 {
			t.Errorf("%d events, %v", len(all), err)
		}
	})
}

// TestSmallResponsesStartNothing: a small response gets no helper, and no response gets one if
// there is one processor.
func TestSmallResponsesStartNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	check := func(Event[*corev1.Pod]) error {
		if n := runtime.NumGoroutine(); n > before {
			return fmt.Errorf("%d goroutines, %d before", n, before)
		}
		return nil
	}
	if err := said(t, newTalk(manyEvents(50)), defaultTuning).Watch(t.Context(), Promises{}, check); err != nil {
		t.Error(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := said(t, newTalk(manyEvents(500)), defaultTuning).Watch(t.Context(), Promises{}, check); err != nil {
		t.Error(err)
	}
}

var _ object.Object = (*wild)(nil)
