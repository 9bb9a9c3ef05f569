// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestRereadStateThatIsNotApplied restores a backup, in which an object has other content under the
// same version, while an index function blocks the loop. So the state read anew waits in the queue.
// Then it is applied, the run ends and drops it, or the informer relists. In the latter cases, the
// next full state must be read anew, too.
func TestRereadStateThatIsNotApplied(t *testing.T) {
	for how, proceed := range map[string]func(r *rig, s *expiringServer, l *Lease, open func()) *Lease{
		"applied": func(_ *rig, _ *expiringServer, l *Lease, open func()) *Lease {
			open()
			return l
		},
		"dropped": func(r *rig, _ *expiringServer, l *Lease, open func()) *Lease {
			l.end(errReleased)
			synctest.Wait()
			open()
			return r.acquire(r.t.Context())
		},
		"relist": func(r *rig, s *expiringServer, l *Lease, open func()) *Lease {
			s.mu.Lock()
			s.version = "8"
			s.mu.Unlock()
			s.forget <- &reason.Error{Reason: reason.Expired}
			time.Sleep(time.Minute) // the second retry in a row comes after a wait
			synctest.Wait()
			if s.state(); s.lists != 4 { // including this call
				r.t.Errorf("%d lists, want 3", s.lists-1)
			}
			open()
			return l
		},
	} {
		bubble(t, how, func(t *testing.T) {
			s := &expiringServer{cachingServer{server: newServer("ns")}, make(chan error)}
			has := func(history, version string) {
				s.mu.Lock()
				defer s.mu.Unlock()
				clear(s.objects)
				a := newObject("a/1@5")
				a.Labels = map[string]string{"history": history}
				s.objects[keyOf("ns", "a")], s.version = a, version
			}
			has("old", "10")
			g := newGate()
			index := store.NewIndex("slow", func(obj object.Object, keys []string) []string {
				if obj.GetName() == "b" {
					g.wait("")
				}
				return append(keys, obj.GetName())
			})
			i, err := New(Config{
				Name: "things", Indexes: []intake.Indexer{index}, Tuning: reflector.Tuning{DisableWatchList: true},
				Streams: []intake.StreamConfig{{Namespace: "ns", Source: s}},
			})
			if err != nil {
				t.Fatal(err)
			}
			r := &rig{Informer: i, t: t}
			l := r.acquire(t.Context())
			s.feed("+b/1@11")
			has("new", "7")
			s.events <- source.Event[object.Object]{Type: source.Bookmark, ResourceVersion: "7"}
			synctest.Wait()
			l = proceed(r, s, l, func() { g.open(); synctest.Wait() })
			obj, _ := r.Table().Version().Get(keyOf("ns", "a"))
			if got := obj.GetLabels()["history"]; got != "new" {
				t.Errorf("the cached object has the content %q, want new; the table: %s", got, r.stored())
			}
			r.release(l)
		})
	}
}

// expiringServer is a server whose watches end with the errors of forget.
type expiringServer struct {
	cachingServer
	forget chan error
}

func (f *expiringServer) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-f.forget:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	return f.cachingServer.Watch(ctx, opts, opened, event)
}
