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

// TestAStateReadAnewThatIsNotApplied restores a backup, in which an object has another content
// under the same version, while an index function holds up what is applied. So the state that is
// read anew waits in the queue. Then the run ends, which drops it, or the informer relists. The
// next full state must be read anew, too.
func TestAStateReadAnewThatIsNotApplied(t *testing.T) {
	for how, goOn := range map[string]func(r *rig, s *forgetful, l *Lease, open func()) *Lease{
		"applied": func(_ *rig, _ *forgetful, l *Lease, open func()) *Lease {
			open()
			return l
		},
		"dropped": func(r *rig, _ *forgetful, l *Lease, open func()) *Lease {
			l.end(errReleased)
			synctest.Wait()
			open()
			return r.acquire(r.t.Context())
		},
		"relist": func(r *rig, s *forgetful, l *Lease, open func()) *Lease {
			s.mu.Lock()
			s.version = "8"
			s.mu.Unlock()
			s.forget <- &reason.Error{Reason: reason.Expired}
			time.Sleep(time.Minute) // the second retry in a row comes after a wait
			synctest.Wait()
			if s.state(); s.lists != 4 { // this is the fourth call
				r.t.Errorf("%d lists before", s.lists-1)
			}
			open()
			return l
		},
	} {
		bubble(t, how, func(t *testing.T) {
			s := &forgetful{knowing{server: newServer("ns")}, make(chan error)}
			has := func(history, version string) {
				s.mu.Lock()
				defer s.mu.Unlock()
				clear(s.objects)
				a := thing("a/1@5")
				a.Labels = map[string]string{"history": history}
				s.objects[in("ns", "a")], s.version = a, version
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
			l = goOn(r, s, l, func() { g.open(); synctest.Wait() })
			obj, _ := r.Table().Version().Get(in("ns", "a"))
			if got := obj.GetLabels()["history"]; got != "new" {
				t.Errorf("the %s object under the same version: %s", got, r.stored())
			}
			r.release(l)
		})
	}
}

// forgetful is a server whose watches end with the errors of forget.
type forgetful struct {
	knowing
	forget chan error
}

func (f *forgetful) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-f.forget:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	return f.knowing.Watch(ctx, opts, opened, event)
}
