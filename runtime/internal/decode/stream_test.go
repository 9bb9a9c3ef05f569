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

// tinySizes are buffers so small that items end anywhere in them.
var tinySizes = bufferSizes{idle: 48, small: 64, chunk: 150, minRead: 7}

// scriptedBody is a response body that arrives in parts. An empty part is a pause of a minute.
type scriptedBody struct {
	parts  []string
	read   atomic.Int64 // bytes
	closed chan struct{}
	once   sync.Once
}

func newScriptedBody(parts ...string) *scriptedBody {
	return &scriptedBody{parts: parts, closed: make(chan struct{})}
}

// stall is a part that blocks until the body is closed.
const stall = "\x00"

func (b *scriptedBody) Read(p []byte) (int, error) {
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
	if b.parts[0] == stall {
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

func (b *scriptedBody) Close() error {
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

// TestItemsEndAnywhereInBuffers reads events through buffers of several sizes.
func TestItemsEndAnywhereInBuffers(t *testing.T) {
	for _, chunk := range []int{100, 5000, 20000} {
		sizes := tinySizes
		sizes.chunk = chunk
		n := 0
		body := strings.SplitAfter(manyEvents(500), "5d4f")
		err := jsonReader(t, newScriptedBody(body...), sizes).Watch(t.Context(), Promises{ReadOnly: true}, func(e Event[*corev1.Pod]) error {
			if n++; e.Object.Name != fmt.Sprint("web-", n) || e.ResourceVersion != fmt.Sprint(n) || len(e.Object.Spec.Containers) != 1 {
				return fmt.Errorf("event %d is of %s", n, e.Object.Name)
			}
			return nil
		})
		if err != nil || n != 500 {
			t.Errorf("chunks of %d: got %d events, %v, want 500", chunk, n, err)
		}
	}
}

// TestEventsAreDeliveredAtOnce checks that an event is delivered when it arrives, not when the next
// one does.
func TestEventsAreDeliveredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := manyEvents(100)
		one := podtest.Event("MODIFIED", podtest.WithKind(podtest.Large(101))) + "\n"
		body := newScriptedBody(first+one[:50], "", one[50:], "", one, "", one)
		start, n := time.Now(), 0
		err := jsonReader(t, body, tinySizes).Watch(t.Context(), Promises{}, func(Event[*corev1.Pod]) error {
			n++
			if got, want := time.Since(start), time.Duration(max(0, n-100))*time.Minute; got != want {
				t.Errorf("event %d is delivered after %v, want %v", n, got, want)
			}
			return nil
		})
		if err != nil || n != 103 {
			t.Errorf("got %d events, %v, want 103", n, err)
		}
	})
}

// TestCallbackBlocksReading checks that nothing is read during a callback, and nothing is delivered
// after the callback has failed or the context is done.
func TestCallbackBlocksReading(t *testing.T) {
	enough := errors.New("enough")
	for name, stop := range map[string]func(context.CancelCauseFunc) error{
		"error":  func(context.CancelCauseFunc) error { return enough },
		"cancel": func(cancel context.CancelCauseFunc) error { cancel(enough); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			body := newScriptedBody(manyEvents(100), stall)
			defer context.AfterFunc(ctx, func() { body.Close() })() // as net/http does
			n := 0
			err := jsonReader(t, body, tinySizes).Watch(ctx, Promises{}, func(Event[*corev1.Pod]) error {
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
				t.Errorf("%s: got %d events, %v, want 40 and %v", name, n, err, enough)
			}
		})
	}
}

// TestErrorsHaveItemAndOffset checks that the events before an error are delivered, and that the
// error has the number and the position of its event.
func TestErrorsHaveItemAndOffset(t *testing.T) {
	good := manyEvents(60)
	reset := errors.New("connection reset by peer")
	for name, tc := range map[string]struct {
		body io.ReadCloser
		is   error
	}{
		"wrong kind":  {newScriptedBody(good + podtest.Event("ADDED", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","resourceVersion":"3"}}`) + good), ErrWrongKind},
		"not JSON":    {newScriptedBody(good + `{"type":"ADDED","object":{]}}` + good), nil},
		"no event":    {newScriptedBody(good + `[]` + good), ErrMalformed},
		"cut off":     {newScriptedBody(good + good[:100]), io.ErrUnexpectedEOF},
		"broken":      {podtest.BrokenBody(good+good[:100], reset), reset},
		"broken here": {podtest.BrokenBody(good, reset), reset},
	} {
		n := 0
		err := jsonReader(t, tc.body, tinySizes).Watch(t.Context(), Promises{}, func(Event[*corev1.Pod]) error { n++; return nil })
		if n != 60 || err == nil || tc.is != nil && !errors.Is(err, tc.is) {
			t.Errorf("%s: got %d events and error %v, want 60 and %v", name, n, err, tc.is)
		}
		var failed *Error
		var broken *BrokenError
		switch {
		case errors.As(err, &failed):
			if failed.Item != 61 || failed.Offset < int64(len(good)) || failed.Offset > int64(len(good)+120) || name == "wrong kind" && failed.Key.Name != "n" {
				t.Errorf("%s: error of event %d of %s at offset %d, want the 61st event, which begins at %d", name, failed.Item, failed.Key, failed.Offset, len(good))
			}
		case !errors.As(err, &broken):
			t.Errorf("%s: got error of type %T", name, err)
		}
	}
}

// TestMore checks that More announces the next event, also if some are outside the shard.
func TestMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := podtest.Event("ADDED", podtest.KindPod("a", "1"))
		events := one + one + one
		for name, sizes := range map[string]bufferSizes{"usual": defaultSizes, "tiny": tinySizes} {
			var got []bool
			last := time.Now()
			body := newScriptedBody(events+one[:50], "", one[50:]+one+one+podtest.Bookmark)
			err := jsonReader(t, body, sizes).Watch(t.Context(), Promises{}, func(e Event[*corev1.Pod]) error {
				if n := len(got); n > 0 && got[n-1] && time.Now() != last {
					t.Errorf("%s: event %d has More, but the next one arrives later", name, n)
				}
				got, last = append(got, e.More), time.Now()
				return nil
			})
			if text := fmt.Sprint(got); err != nil || len(got) != 7 || name == "usual" && text != "[true true false true true true false]" {
				t.Errorf("%s: More of the events is %s, %v", name, text, err)
			}
		}
		events = manyEvents(3)
		s := newReader(t, JSON, []byte(events), func() *corev1.Pod { return &corev1.Pod{} },
			Options{ShardSelector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"})
		all, err := watchAll(s)
		for n, e := range all {
			if e.More != (n < len(all)-1) {
				t.Errorf("event %d of %d has More: %v", n+1, len(all), e.More)
			}
		}
		if err != nil || len(all) < 2 {
			t.Errorf("got %d events of the shard, %v, want some", len(all), err)
		}
	})
}
