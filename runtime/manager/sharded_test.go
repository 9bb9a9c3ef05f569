// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// member is a manager in a ring of package shard. It notes who reconciles which key.
type member struct {
	*running
	ring *shard.Ring
}

// reconciled has the last member that reconciled each key.
type reconciled struct {
	mu   sync.Mutex // mu guards the fields below
	by   map[object.Key]string
	errs []error
}

func (r *reconciled) count(member string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, by := range r.by {
		if by == member {
			n++
		}
	}
	return n
}

func (r *rig) member(name string, seen *reconciled) *member {
	r.t.Helper()
	ring, err := shard.New(r.config, shard.Options{Namespace: "shop", Name: "maps", Identity: name})
	if err != nil {
		r.t.Fatal(err)
	}
	factory := r.newFactory()
	return &member{r.run(func(o *manager.Options) {
		o.Factory, o.Ring = factory, ring
		o.Controllers = []manager.Descriptor{{Name: "maps", Sharded: true, New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
			maps, err := source.New[*configMap](c.Client, mapsResource, source.Options{})
			if err != nil {
				return nil, err
			}
			return controller.New("maps", func(ctx context.Context, key object.Key) (controller.Result, error) {
				_, err := maps.List(ctx, source.ListOptions{}, func(*configMap) error { return nil })
				seen.mu.Lock()
				defer seen.mu.Unlock()
				seen.by[key] = name
				if err != nil {
					seen.errs = append(seen.errs, err)
				}
				return controller.Result{}, err
			}, controller.Options{Ring: ring}, controller.For(factories.For[*configMap](factory, mapsResource)))
		}}}
	}), ring}
}

// TestMembersOfARing: each key has one member, which may send requests for it. Members are ready
// before they have keys. One that ends hands its keys over at once.
func TestMembersOfARing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		const keys = 40
		for n := range keys {
			r.maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("shop-", n), Name: "blue"}})
		}
		seen := &reconciled{by: map[object.Key]string{}}
		a := r.member("a", seen)
		b := r.member("b", seen)
		pass(time.Second)
		for _, m := range []*member{a, b} { // before they have got anything
			checkGet(t, m.Manager, "/readyz?verbose", 200, "[+]ring ok")
			same(t, "keys", seen.count("a")+seen.count("b"), 0)
		}
		pass(10 * time.Second)
		if na, nb := seen.count("a"), seen.count("b"); na+nb != keys || na < keys/4 || nb < keys/4 {
			t.Errorf("a has %d keys, and b %d", na, nb)
		}
		checkGet(t, a.Manager, "/debug/informers?format=html", 200, "Ring maps", "It works on 32 of 64 buckets")
		checkGet(t, a.Manager, "/healthz?verbose", 200, "[+]ring ok")

		start := time.Now()
		same(t, "Run of a", a.End(), errStop)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("the end of a took %v", took)
		}
		pass(time.Second)
		same(t, "keys of b", seen.count("b"), keys)
		checkGet(t, b.Manager, "/healthz?verbose", 200, "[+]ring ok")
		_ = b.End()
		same(t, "failed requests", seen.errs, []error{})
	})
}

// TestMismatchEndsRun: a process with other settings joins no ring, and says why.
func TestMismatchEndsRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.member("a", &reconciled{by: map[object.Key]string{}})
		pass(10 * time.Second)
		other, err := shard.New(r.config, shard.Options{Namespace: "shop", Name: "maps", Identity: "b", Buckets: 128})
		if err != nil {
			t.Fatal(err)
		}
		b := r.run(func(o *manager.Options) {
			o.Factory, o.Ring, o.Controllers = r.newFactory(), other, []manager.Descriptor{r.recording("maps", sharded)}
		})
		<-b.Done
		if !errors.Is(b.Err, shard.ErrMismatch) {
			t.Errorf("Run() = %v", b.Err)
		}
		same(t, "events", r.take(), []string{"make maps"})
		_ = a.End()
	})
}

// TestRingAndSharded: a controller has a ring exactly if it is Sharded.
func TestRingAndSharded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring, err := shard.New(r.config, shard.Options{Namespace: "shop", Name: "maps"})
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			ring    controller.Ring
			sharded bool
			want    string
		}{
			{nil, true, "controller maps: it is Sharded, and was made without controller.Options.Ring"},
			{ring, false, "controller maps: it was made with controller.Options.Ring, and its Descriptor is not Sharded"},
		} {
			factory := r.newFactory()
			maps := factories.For[*configMap](factory, mapsResource)
			m := r.run(func(o *manager.Options) {
				o.Factory, o.Ring = factory, ring
				o.Controllers = []manager.Descriptor{{Name: "maps", Sharded: test.sharded, New: func(context.Context, *manager.Context) (manager.Runnable, error) {
					return controller.New("maps", func(context.Context, object.Key) (controller.Result, error) { return controller.Result{}, nil },
						controller.Options{Ring: test.ring}, controller.For(maps))
				}}, r.recording("others", sharded)}
			})
			<-m.Done
			if m.Err == nil || !strings.Contains(m.Err.Error(), test.want) {
				t.Errorf("Run() = %v, want an error with %q", m.Err, test.want)
			}
		}
	})
}
