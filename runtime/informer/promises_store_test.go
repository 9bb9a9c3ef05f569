// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestPromise02ReadsNeverBlockTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		for n := range 100 {
			server.Pods.Create(pod("shop", numbered(n), "old"))
		}
		gate := &gatedSource{Source: server.Source(t), steps: make(chan struct{})}
		pods := newPods(t, gate, informer.WithIndexes(PodByNode), informer.WithTuning(reflector.Tuning{DisableWatchList: true}), informer.WithLogger(discard))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- pods.Run(ctx) }()
		for range 99 {
			gate.steps <- struct{}{}
			synctest.Wait()
			if n := pods.Store().Snapshot().Len(); n != 0 {
				t.Fatalf("the store has %d objects of an incomplete list, want 0", n)
			}
		}
		gate.steps <- struct{}{}
		synctest.Wait()

		// A reader in the middle of a loop does not delay the writer, and does not see its changes.
		snapshot := pods.Store().Snapshot()
		next, stop := iter.Pull(snapshot.All())
		defer stop()
		first, _ := next()
		for n := range 100 {
			server.Move(numbered(n), "new")
		}
		synctest.Wait()
		now := pods.Store().Snapshot()
		same(t, "moved pods in the store", PodByNode.Len(now, "new"), 100)
		seen := 1
		for pod, ok := first, true; ok; pod, ok = next() {
			if pod.Spec.NodeName != "old" {
				t.Fatalf("the snapshot has changed: pod %s is on %s, want old", pod.Name, pod.Spec.NodeName)
			}
			seen++
		}
		same(t, "objects of the loop", seen, 101)
		same(t, "unmoved pods in the snapshot", PodByNode.Len(snapshot, "old"), 100)
		same(t, "versions", []string{snapshot.ResourceVersion(), now.ResourceVersion()}, []string{"101", server.ResourceVersion()})

		// Reads copy nothing.
		key, reader := object.Key{Namespace: "shop", Name: numbered(7)}, pods.Store()
		if allocs := testing.AllocsPerRun(100, func() {
			s := reader.Snapshot()
			s.Get(key)
			s.Scan("shop", nil, func(*corev1.Pod) bool { return true })
		}); allocs > 2 { // for closures of Scan
			t.Errorf("%v allocations to read 101 objects, want at most 2", allocs)
		}
		cancel()
		<-done
	})
}

// gatedSource is a Source whose lists wait for a step before each object.
type gatedSource struct {
	source.Source[*corev1.Pod]
	steps chan struct{}
}

func (g *gatedSource) List(ctx context.Context, opts source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	return g.Source.List(ctx, opts, func(pod *corev1.Pod) error {
		select {
		case <-g.steps:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return item(pod)
	})
}

func TestPromise06MemoryAtStartStaysNearMemoryAtRest(t *testing.T) {
	const objects = 5000
	src := &countedSource{objects: objects, version: "1", expired: make(chan struct{})}
	most := 0
	pods := newPods(t, src, informer.WithTuning(reflector.Tuning{DisableWatchList: true, Backoff: reflector.Backoff{Initial: time.Millisecond}}), informer.WithLogger(discard))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	noError(t, pods.WaitForCacheSync(ctx))
	first := pods.Store().Snapshot()
	same(t, "objects", first.Len(), objects)

	// A failed list changes nothing. The next list has the same objects; no second copy of them is
	// kept.
	src.each = func(n int) {
		if n%1000 == 999 {
			most = max(most, src.alive())
		}
		if s := pods.Store().Snapshot(); s.Len() != objects || s.ResourceVersion() != "1" {
			t.Errorf("during the list, the store has %d objects at %s", s.Len(), s.ResourceVersion())
		}
	}
	src.failAt = 3000
	src.expire("2")
	noError(t, pods.AwaitResourceVersion(ctx, "2"))
	// Of the new objects, the reader has collected at most 128, and holds one more; 1,024 wait in
	// the DeltaFIFO, and as many are being applied.
	if limit := objects + 128 + 1 + 2*deltafifo.DefaultCapacity; most > limit {
		t.Errorf("%d objects alive at once, want at most %d for %d objects", most, limit, objects)
	}
	second := pods.Store().Snapshot()
	for pod := range first.All() {
		if again, _ := second.Get(object.KeyOf(pod)); again != pod {
			t.Fatalf("pod %s was replaced by an equal copy", pod.Name)
		}
	}
	cancel()
	<-done
}

// countedSource is a Source of unchanging objects, which counts the copies that are alive. Its
// watches end with 410.
type countedSource struct {
	objects int
	each    func(n int) // called before the n-th object of a list
	failAt  int         // the object at which one list fails; 0: none
	copies  []weak.Pointer[corev1.Pod]

	mu      sync.Mutex // guards the rest
	version string
	expired chan struct{} // closed when version changes
}

// alive is called by the goroutine that lists.
func (s *countedSource) alive() int {
	runtime.GC()
	s.copies = slices.DeleteFunc(s.copies, func(p weak.Pointer[corev1.Pod]) bool { return p.Value() == nil })
	return len(s.copies)
}

func (s *countedSource) expire(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
	close(s.expired)
	s.expired = make(chan struct{})
}

func (s *countedSource) List(_ context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	for n := range s.objects {
		if s.each != nil {
			s.each(n)
		}
		if n > 0 && n == s.failAt {
			s.failAt = 0
			return source.ListResult{}, informertest.ErrOutage
		}
		pod := pod("shop", fmt.Sprint("pod-", n), "")
		pod.UID, pod.ResourceVersion = "uid", "1"
		s.copies = append(s.copies, weak.Make(pod))
		if err := item(pod); err != nil {
			return source.ListResult{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return source.ListResult{ResourceVersion: s.version}, nil
}

func (s *countedSource) Watch(ctx context.Context, opts source.WatchOptions, opened func(), _ func(source.Event[*corev1.Pod]) error) error {
	s.mu.Lock()
	expired, old := s.expired, opts.ResourceVersion != s.version
	s.mu.Unlock()
	if old {
		return &apierrors.StatusError{ErrStatus: *sourcetest.Status(http.StatusGone)}
	}
	opened()
	select {
	case <-expired:
		return &apierrors.StatusError{ErrStatus: *sourcetest.Status(http.StatusGone)}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestPromise10ObjectsAreSharedAndReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "blue", map[string]string{"app": "web"}), labelled("shop", "red", map[string]string{"app": "web"}))
		var found []informer.Mutation
		calls := map[string]int{}
		pods := newPods(t, server.Source(t),
			informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
				pod.Labels["seen"] = pod.Name // the object owns all its parts
				calls[pod.Name+"@"+pod.ResourceVersion]++
				return pod, nil
			}),
			informer.WithMutationDetector(func(m informer.Mutation) { found = append(found, m) }))
		var delivered *corev1.Pod
		informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{
			AddFunc: func(pod *corev1.Pod, _ bool) {
				if pod.Name == "blue" {
					delivered = pod
				}
			},
			// a forbidden mutation
			UpdateFunc: func(_, pod *corev1.Pod) { pod.Labels["app"] = "mine" },
		}, informer.WithHandlerName("vandal"))
		start(t, pods)
		cached, _ := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		if cached != delivered {
			t.Error("the handler and the store have different copies")
		}
		same(t, "labels of blue", cached.Labels, map[string]string{"app": "web", "seen": "blue"})
		if len(found) != 0 {
			t.Errorf("reported before the mutation: %v", found)
		}
		server.Pods.Update(labelled("shop", "red", map[string]string{"app": "api"}))
		synctest.Wait()
		same(t, "calls of the transform", calls, map[string]int{"blue@2": 1, "red@3": 1, "red@4": 1})
		if len(found) != 1 || !strings.Contains(found[0].Error(), "vandal") || !strings.Contains(found[0].Error(), "app") || !strings.Contains(found[0].Error(), "shop/red") {
			t.Errorf("reported %v, want the mutation of shop/red by the handler", found)
		}
	})
}
