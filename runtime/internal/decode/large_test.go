// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func newConfigMap() object.Object { return &corev1.ConfigMap{} }

// largeConfigMap returns a ConfigMap with a unique text of a megabyte.
func largeConfigMap(i int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-%d","namespace":"shop","resourceVersion":"7"},"data":{"text":"%s"}}`,
		i, strings.Repeat(fmt.Sprintf("%07d ", i), 1<<17))
}

// TestLargeObjectsReuseBuffers checks that decoding large objects allocates little more than the
// objects, in one response or in several.
func TestLargeObjectsReuseBuffers(t *testing.T) {
	if raceDetector {
		t.Skip("sync.Pool drops values at random under the race detector")
	}
	const n = 20
	c := configMaps(t)
	var items, events []string
	for i := range n {
		items = append(items, largeConfigMap(i))
		events = append(events, podtest.Event("ADDED", items[i]))
	}
	list := func(items ...string) string {
		return `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[` + strings.Join(items, ",") + `]}`
	}
	var each []string
	for _, item := range items {
		each = append(each, list(item))
	}
	for name, tc := range map[string]struct {
		verb   string
		bodies []string
	}{
		"list":            {"list", []string{list(items...)}},
		"a list of each":  {"list", each},
		"watch":           {"watch", []string{strings.Join(events, "")}},
		"a watch of each": {"watch", events},
	} {
		count, size := 0, 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, body := range tc.bodies {
			s := newStream(context.Background(), c, io.NopCloser(recordReader{strings.NewReader(body)}), JSON)
			var err error
			if tc.verb == "list" {
				l := listReader{stream: s, deliver: func(object.Object) error { count++; return nil }}
				_, err = l.read()
			} else {
				w := watchReader{stream: s, deliver: func(*Item) error { count++; return nil }}
				err = w.read()
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s.Close()
			size += len(body)
		}
		runtime.ReadMemStats(&after)
		if count != n {
			t.Fatalf("%s: got %d objects, want %d", name, count, n)
		}
		if grown := float64(after.TotalAlloc-before.TotalAlloc) / float64(size); grown > 2.5 {
			t.Errorf("%s: decoding allocates %.2f bytes per byte of the response, want at most 2.5", name, grown)
		}
	}
}

// TestLargeBufferIsReleased checks that a waiting stream doesn't keep the buffer of a large object.
func TestLargeBufferIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := configMaps(t)
		body := newScriptedBody(podtest.Event("ADDED", largeConfigMap(1)), "")
		s := newStream(context.Background(), c, io.NopCloser(recordReader{body}), JSON)
		w := watchReader{stream: s, deliver: func(*Item) error { return nil }}
		go func() {
			if err := w.read(); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if n := len(s.feed.buf); n > chunkSize {
			t.Errorf("a waiting stream keeps a buffer of %d bytes, want at most %d", n, chunkSize)
		}
		time.Sleep(time.Hour)
	})
}

// recordReader reads in pieces of the size of a TLS record.
type recordReader struct{ io.Reader }

func (n recordReader) Read(p []byte) (int, error) { return n.Reader.Read(p[:min(len(p), 16<<10)]) }

func configMaps(t testing.TB) *Codec {
	c, err := New(Options{Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), NewObject: newConfigMap})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
