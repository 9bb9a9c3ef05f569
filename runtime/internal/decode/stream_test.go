// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

// tiny are buffers so small that items end everywhere in them.
var tiny = sizes{idle: 48, small: 64, chunk: 150, least: 7}

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

// TestItemsEndAnywhereInBuffers: whatever the buffers are, objects come in the stream's order,
// whole.
func TestItemsEndAnywhereInBuffers(t *testing.T) {
	for _, chunk := range []int{100, 5000, 20000} {
		how := tiny
		how.chunk = chunk
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

// TestNothingIsWaitedFor: an event that has arrived is handed over although nothing more comes, and
// so is each one after a pause.
func TestNothingIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := manyEvents(100)
		one := podtest.Event("MODIFIED", podtest.WithKind(podtest.Large(101))) + "\n"
		body := newTalk(first+one[:50], "", one[50:], "", one, "", one)
		start, n := time.Now(), 0
		err := said(t, body, tiny).Watch(t.Context(), Promises{}, func(Event[*corev1.Pod]) error {
			n++
			if got, want := time.Since(start), time.Duration(max(0, n-100))*time.Minute; got != want {
				t.Errorf("event %d after %v, want %v", n, got, want)
			}
			return nil
		})
		if err != nil || n != 103 {
			t.Errorf("%d events, %v", n, err)
		}
	})
}

// TestCallbacksSetThePace: while the callback blocks, nothing is read, and after it has failed or
// the context is done, nothing is handed over.
func TestCallbacksSetThePace(t *testing.T) {
	enough := errors.New("enough")
	for name, stop := range map[string]func(context.CancelCauseFunc) error{
		"error":  func(context.CancelCauseFunc) error { return enough },
		"cancel": func(cancel context.CancelCauseFunc) error { cancel(enough); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			body := newTalk(manyEvents(100), silence)
			defer context.AfterFunc(ctx, func() { body.Close() })() // as net/http does
			n := 0
			err := said(t, body, tiny).Watch(ctx, Promises{}, func(Event[*corev1.Pod]) error {
				before := body.read.Load()
				time.Sleep(time.Hour)
				if read := body.read.Load() - before; read > 0 {
					t.Errorf("%s: %d bytes were read during a callback", name, read)
				}
				if n++; n == 40 {
					return stop(cancel)
				}
				return nil
			})
			if err != enough || n != 40 {
				t.Errorf("%s: %d events, %v", name, n, err)
			}
		})
	}
}

// TestFailuresHaveTheirPlace: what is wrong is reported with its place, after all that came before
// it.
func TestFailuresHaveTheirPlace(t *testing.T) {
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
		for name, how := range map[string]sizes{"usual": defaultSizes, "tiny": tiny} {
			var got []bool
			last := time.Now()
			body := newTalk(events+one[:50], "", one[50:]+one+one+podtest.Bookmark)
			err := said(t, body, how).Watch(t.Context(), Promises{}, func(e Event[*corev1.Pod]) error {
				if n := len(got); n > 0 && got[n-1] && time.Now() != last {
					t.Errorf("%s: there were not more after event %d", name, n)
				}
				got, last = append(got, e.More), time.Now()
				return nil
			})
			if text := fmt.Sprint(got); err != nil || len(got) != 7 || name == "usual" && text != "[true true false true true true false]" {
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
