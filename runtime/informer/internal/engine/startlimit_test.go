// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// slowSource is a Source without objects, whose lists take a certain time.
type slowSource struct {
	// running lists of all namespaces, and their largest number
	lists, most *atomic.Int64
	answer      func(ctx context.Context) error
}

func (s slowSource) List(ctx context.Context, _ source.ListOptions, _ func(object.Object) error) (source.ListResult, error) {
	now := s.lists.Add(1)
	defer s.lists.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	return source.ListResult{ResourceVersion: "1"}, s.answer(ctx)
}

func (s slowSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), _ func(source.Event[object.Object]) error) error {
	opened()
	<-ctx.Done()
	return context.Cause(ctx)
}

// newSlowInformer returns an informer of n namespaces without objects. answer delays a list of the
// n-th namespace, or makes it fail.
func newSlowInformer(t *testing.T, n int, answer func(n int, ctx context.Context) error) (i *Informer, most *atomic.Int64) {
	t.Helper()
	lists, most := &atomic.Int64{}, &atomic.Int64{}
	config := Config{Name: "pods in namespaces " + strings.Repeat("many ", n), Tuning: reflector.Tuning{DisableWatchList: true}}
	for at := range n {
		config.Streams = append(config.Streams, intake.StreamConfig{
			Namespace: fmt.Sprintf("ns-%04d", at),
			Source:    slowSource{lists, most, func(ctx context.Context) error { return answer(at, ctx) }},
		})
	}
	config.SourceIn = func(string) (source.Source[object.Object], error) { return config.Streams[0].Source, nil }
	i, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return i, most
}

// TestFewNamespacesStartAtATime shows that an informer of many namespaces lists a bounded number of
// them at once.
func TestFewNamespacesStartAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, want := range map[int]int64{1000: maxStarting, maxStarting: maxStarting, 3: 3} {
			i, most := newSlowInformer(t, n, func(int, context.Context) error { time.Sleep(100 * time.Millisecond); return nil })
			began := time.Now()
			lease, err := i.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			<-i.Synced()
			if most.Load() != want {
				t.Errorf("%d lists of %d namespaces at once, want %d", most.Load(), n, want)
			}
			if took, want := time.Since(began), time.Duration((n+maxStarting-1)/maxStarting)*100*time.Millisecond; took != want {
				t.Errorf("%d namespaces synced after %v, want %v", n, took, want)
			}
			if name := i.streams()[1].Name(); len(name) > 64+20 || !strings.HasSuffix(name, " in ns-0001") {
				t.Errorf("the name of a stream is %q", name)
			}
			lease.Release(context.Background())
		}
	})
}

// TestHangingNamespacesOnlyDelayOthers has a thousand namespaces. The lists of some hang, others
// are forbidden; the rest sync.
func TestHangingNamespacesOnlyDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, hanging, forbidden = 1000, 100, 400
		i, _ := newSlowInformer(t, n, func(at int, ctx context.Context) error {
			switch {
			case at < hanging:
				<-ctx.Done()
				return context.Cause(ctx)
			case at < hanging+forbidden:
				return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("not for you"))
			}
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		lease, err := i.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep((hanging/maxStarting+1)*maxStart + (n-hanging-forbidden)/maxStarting*100*time.Millisecond + time.Second)
		synced := 0
		for _, s := range i.Streams() {
			if s.Synced {
				synced++
			}
		}
		if want := n - hanging - forbidden; synced != want {
			t.Errorf("%d namespaces have synced, want %d", synced, want)
		}
		lease.Release(context.Background())
	})
}
