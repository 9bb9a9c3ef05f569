// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/source/sourcetest"
)

// Each test here is one promise of the runtime's documentation.

func TestPromise01EveryChangeInOrder(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		t.Run(fmt.Sprint("watch-list ", watchList), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newShop(pod("shop", "a", ""), pod("shop", "b", ""), pod("shop", "c", ""), pod("shop", "d", ""))
				pods := newPods(t, server.source(t), informer.WithWatchList(watchList), informer.WithLogger(discard))
				let := make(chan struct{}, 1000)
				var prompt, merging journal[*corev1.Pod]
				merging.before = func(string, object.Key) { <-let }
				add(t, pods, &prompt)
				add(t, pods, &merging, informer.WithBacklogThreshold(0))
				for range 4 {
					let <- struct{}{}
				}
				defer start(t, pods)()
				prompt.sawAll(t, "+a@2 initial", "+b@3 initial", "+c@4 initial", "+d@5 initial")
				merging.sawAll(t, "+a@2 initial", "+b@3 initial", "+c@4 initial", "+d@5 initial")

				// On the watch: every event, in the server's order; another UID is another object.
				server.move("a", "1")
				synctest.Wait() // the merging handler is told of this one, and stays in its callback
				server.move("b", "1")
				server.move("a", "2")
				server.pods.Delete("shop", "a")
				server.pods.Create(pod("shop", "a", ""))
				prompt.saw(t, "~a@2>6", "~b@3>7", "~a@6>8", "-a@9", "+a@10")

				// A watch that breaks: nothing is lost, and nothing comes twice.
				stop := server.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: sourcetest.Always, Do: sourcetest.Fail(syscall.ECONNREFUSED)})
				server.EndWatches()
				server.move("b", "2")
				server.pods.Delete("shop", "b")
				server.pods.Create(pod("shop", "b", ""))
				synctest.Wait()
				stop()
				pass(time.Minute)
				prompt.saw(t, "~b@7>11", "-b@12", "+b@13")

				// A relist: another UID is a deletion, then an addition; what has vanished is one deletion, with the last state
				// known; what is the same is not reported.
				server.relist(func() {
					server.move("a", "3")
					server.pods.Delete("shop", "b")
					server.pods.Create(pod("shop", "b", ""))
					server.pods.Delete("shop", "c")
				})
				pass(time.Minute)
				relist := prompt.take()
				sorted := slices.Sorted(slices.Values(relist))
				same(t, "relist", sorted, []string{"+b@16", "-b@13 unknown", "-c@4 unknown", "~a@10>14"})
				if slices.Index(relist, "-b@13 unknown") > slices.Index(relist, "+b@16") {
					t.Errorf("added before it was deleted: %q", relist)
				}
				prompt.check(t, pods)

				// A handler that fell behind: the same, merged by key.
				close(let)
				merging.sawAll(t, "~a@2>6", "-a@9", "+a@14", "-b@12", "+b@16", "-c@4 unknown")
				merging.check(t, pods)
			})
		})
	}
}

func TestPromise02ReadsNeverBlockTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		for n := range 100 {
			server.pods.Create(pod("shop", numbered(n), "old"))
		}
		gate := &gatedSource{Source: server.source(t), steps: make(chan struct{})}
		pods := newPods(t, gate, informer.WithIndexes(PodByNode), informer.WithWatchList(false), informer.WithLogger(discard))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- pods.Run(ctx) }()
		for range 99 {
			gate.steps <- struct{}{}
			synctest.Wait()
			if n := pods.Store().Snapshot().Len(); n != 0 {
				t.Fatalf("%d objects of a list that is not complete", n)
			}
		}
		gate.steps <- struct{}{}
		synctest.Wait()

		// A reader in the middle of a loop does not hold up the writer, and sees nothing of what it writes.
		snapshot := pods.Store().Snapshot()
		next, stop := iter.Pull(snapshot.All())
		defer stop()
		first, _ := next()
		for n := range 100 {
			server.move(numbered(n), "new")
		}
		synctest.Wait()
		now := pods.Store().Snapshot()
		same(t, "new ones in the store", PodByNode.Len(now, "new"), 100)
		seen := 1
		for pod, ok := first, true; ok; pod, ok = next() {
			if pod.Spec.NodeName != "old" {
				t.Fatalf("the snapshot has changed: %s is on %s", pod.Name, pod.Spec.NodeName)
			}
			seen++
		}
		same(t, "objects of the loop", seen, 101)
		same(t, "old ones in the snapshot", PodByNode.Len(snapshot, "old"), 100)
		same(t, "versions", []string{snapshot.ResourceVersion(), now.ResourceVersion()}, []string{"101", server.ResourceVersion()})

		// Nothing is copied.
		key, reader := object.Key{Namespace: "shop", Name: numbered(7)}, pods.Store()
		if allocs := testing.AllocsPerRun(100, func() {
			s := reader.Snapshot()
			s.Get(key)
			s.Scan("shop", nil, func(*corev1.Pod) bool { return true })
		}); allocs > 2 { // for what Scan closes over
			t.Errorf("%v allocations to read 101 objects", allocs)
		}
		cancel()
		<-done
	})
}

// gatedSource lets one object of a list through for each step.
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

func TestPromise03ASlowHandlerDelaysNobodyAndItsBacklogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		const keys, updates = 10, 5000
		for n := range keys {
			server.pods.Create(pod("shop", numbered(n), ""))
		}
		pods := newPods(t, server.source(t))
		let := make(chan struct{})
		var stuck, prompt journal[*corev1.Pod]
		var events atomic.Int64
		stuck.before = func(string, object.Key) { <-let }
		prompt.before = func(string, object.Key) { events.Add(1) }
		slow, never := add(t, pods, &stuck), add(t, pods, &journal[*corev1.Pod]{before: stuck.before}, informer.WithBacklogThreshold(informer.Never))
		add(t, pods, &prompt)
		defer start(t, pods)()
		for range updates / keys {
			for n := range keys {
				server.move(numbered(n), "node")
			}
			synctest.Wait() // the prompt handler keeps up
		}
		server.pods.Create(pod("shop", "brief", ""))
		server.pods.Delete("shop", "brief")
		synctest.Wait()
		same(t, "events of the handler that keeps up", events.Load(), int64(keys+updates+2))
		if s := slow.Status(); s.Backlog > 2*keys || !s.Merging {
			t.Errorf("%d events wait for %d keys, merging %v", s.Backlog, keys, s.Merging)
		}
		if s := never.Status(); s.Backlog != keys-1+updates+2 || s.Merging {
			t.Errorf("%d events wait, merging %v, although the threshold is Never", s.Backlog, s.Merging)
		}
		close(let)
		synctest.Wait()
		// Only what was delivered is the old state of what comes next; what came and went is not reported.
		for _, line := range stuck.lines {
			if strings.Contains(line, "brief") {
				t.Errorf("told of %s", line)
			}
		}
		if n := len(stuck.lines); n > 2*keys {
			t.Errorf("%d events were delivered", n)
		}
		stuck.check(t, pods)
		prompt.check(t, pods)
		// Having caught up, it sees every event again.
		stuck.take()
		server.move(numbered(0), "a")
		server.move(numbered(0), "b")
		same(t, "events later", len(stuck.take()), 2)
	})
}

func TestPromise04ADeleteCanNotCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "seen", "node-1"), pod("shop", "unseen", "node-2"))
		pods := newPods(t, server.source(t), informer.WithLogger(discard))
		var got []string
		add(t, pods, informer.HandlerFuncs[*corev1.Pod]{DeleteFunc: func(d informer.Deleted[*corev1.Pod]) {
			got = append(got, fmt.Sprint(d.Key, " ", d.Object.Spec.NodeName, " ", d.FinalStateUnknown)) // no cast, no nil
		}})
		defer start(t, pods)()
		server.pods.Delete("shop", "seen")
		synctest.Wait()
		server.relist(func() { server.pods.Delete("shop", "unseen") })
		pass(time.Minute)
		same(t, "deletions", got, []string{"shop/seen node-1 false", "shop/unseen node-2 true"})
	})
}

func TestPromise05SyncHasAReason(t *testing.T) {
	for name, test := range map[string]struct {
		fault  sourcetest.Fault
		reason reflector.Reason
		text   string
	}{
		"forbidden":          {sourcetest.Fault{Do: sourcetest.Refuse(http.StatusForbidden)}, reflector.ReasonForbidden, "Forbidden"},
		"not found":          {sourcetest.Fault{Do: sourcetest.Refuse(http.StatusNotFound)}, reflector.ReasonNotFound, "could not find the requested resource"},
		"no bookmark":        {sourcetest.Fault{On: sourcetest.WatchList, Do: dropBookmarks}, reflector.ReasonNoBookmark, reflector.ErrNoBookmark.Error()},
		"decoding":           {sourcetest.Fault{Do: func(a *sourcetest.Answer) { a.Body = []byte("<html>") }}, reflector.ReasonBadData, "malformed"},
		"connection refused": {sourcetest.Fault{Do: sourcetest.Fail(syscall.ECONNREFUSED)}, reflector.ReasonUnreachable, "connection refused"},
		"silence":            {sourcetest.Fault{Do: sourcetest.Fail(sourcetest.ErrHang)}, reflector.ReasonSilent, reflector.ErrSilent.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newShop(pod("shop", "blue", ""))
				test.fault.Times = sourcetest.Always
				server.Inject(test.fault)
				if test.fault.On == sourcetest.WatchList { // and the list that comes next fails too, later
					server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Fail(sourcetest.ErrHang)})
				}
				var log strings.Builder
				f := server.factory(t, informer.WithLogger(discard))
				pods := podsOf(f)
				begin := time.Now()
				if err := f.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				cause := errors.New("enough waited")
				ctx, cancel := context.WithTimeoutCause(klog.NewContext(t.Context(), logTo(&log)), 35*time.Second, cause)
				defer cancel()
				err := f.WaitForCacheSync(ctx)
				s := pods.Status()
				if err == nil || !errors.Is(err, cause) || !errors.Is(err, s.Reflector.LastError) || !strings.Contains(err.Error(), test.text) {
					t.Errorf("got %v, want %s", err, test.text)
				}
				if s.Synced || s.Reflector.LastError == nil || s.Reflector.Since.Before(begin) {
					t.Errorf("status %v", s)
				}
				if reason := reflector.ReasonOf(s.Reflector.LastError); reason != test.reason {
					t.Errorf("the reason is %v, want %v", reason, test.reason)
				}
				if !strings.Contains(s.String(), "pods/v1: ") || !strings.Contains(s.String(), "not synced") || strings.Contains(s.String(), "\n") {
					t.Errorf("status %q", s)
				}
				if n := strings.Count(log.String(), "Waiting for informers to sync"); n != 3 {
					t.Errorf("%d lines in the log after 35 s: %s", n, log.String())
				}
				if test.reason.Lasting() {
					if err := f.WaitForCacheSync(t.Context(), informer.FailOn()); err == nil || !strings.Contains(err.Error(), test.text) {
						t.Errorf("a state that does not heal by itself: %v", err)
					}
				}
				shutdown(t, f)
			})
		})
	}
}

// dropBookmarks lets a watch end without one.
func dropBookmarks(a *sourcetest.Answer) {
	a.Events = func(e sourcetest.Event) []sourcetest.Event {
		if e.Type == "BOOKMARK" {
			return nil
		}
		return []sourcetest.Event{e}
	}
}

func TestPromise06MemoryAtStartStaysNearMemoryAtRest(t *testing.T) {
	const objects = 5000
	src := &countedSource{objects: objects, version: "1"}
	var most atomic.Int64
	pods := newPods(t, src, informer.WithWatchList(false), informer.WithBackoff(reflector.Backoff{Initial: time.Millisecond}), informer.WithLogger(discard))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	if err := pods.WaitForCacheSync(ctx); err != nil {
		t.Fatal(err)
	}
	first := pods.Store().Snapshot()
	same(t, "objects", first.Len(), objects)

	// A list that fails changes nothing; the next one, which brings the same, holds no second copy.
	src.each = func(n int) {
		if n%1000 == 999 {
			runtime.GC()
			runtime.Gosched()
			runtime.GC()
			most.Store(max(most.Load(), src.alive.Load()))
		}
		if s := pods.Store().Snapshot(); s.Len() != objects || s.ResourceVersion() != "1" {
			t.Errorf("during the list, the store has %d objects at %s", s.Len(), s.ResourceVersion())
		}
	}
	src.failAt = 3000
	src.expire("2")
	if err := pods.AwaitResourceVersion(ctx, "2"); err != nil {
		t.Fatal(err)
	}
	if n := most.Load(); n > objects+1500 { // at most 1,024 wait to be applied
		t.Errorf("%d objects were alive at once, of %d", n, objects)
	}
	second := pods.Store().Snapshot()
	for pod := range first.All() {
		if again, _ := second.Get(object.KeyOf(pod)); again != pod {
			t.Fatalf("%s is another copy of the same object", pod.Name)
		}
	}
	cancel()
	<-done
}

// countedSource has objects that never change, and counts those that are alive. Its watch ends by expiring.
type countedSource struct {
	objects int
	each    func(n int) // called before the n-th object of a list
	failAt  int         // one list fails there; 0: none

	alive   atomic.Int64
	mu      sync.Mutex // mu guards what follows
	version string
	expired chan struct{}
}

func (s *countedSource) expire(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
	close(s.expired)
	s.expired = nil
}

func (s *countedSource) List(_ context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	for n := range s.objects {
		if s.each != nil {
			s.each(n)
		}
		if n > 0 && n == s.failAt {
			s.failAt = 0
			return source.ListResult{}, errOutage
		}
		pod := pod("shop", fmt.Sprint("pod-", n), "")
		pod.UID, pod.ResourceVersion = "uid", "1"
		s.alive.Add(1)
		runtime.AddCleanup(pod, func(alive *atomic.Int64) { alive.Add(-1) }, &s.alive)
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
	expired := make(chan struct{})
	s.expired = expired
	s.mu.Unlock()
	opened()
	select {
	case <-expired:
		return &apierrors.StatusError{ErrStatus: *sourcetest.Status(http.StatusGone)}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestPromise07TheWatchIsAliveOrKnownNotToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		before := server.ResourceVersion()
		server.Inject(sourcetest.Fault{On: sourcetest.WatchList, Do: func(a *sourcetest.Answer) {
			// After the initial events nothing comes any more, and nothing ends.
			over := false
			a.Events = func(e sourcetest.Event) []sourcetest.Event {
				if over {
					return nil
				}
				over = e.Type == "BOOKMARK"
				return []sourcetest.Event{e}
			}
		}})
		pods := newPods(t, server.source(t), informer.WithSilenceTimeout(90*time.Second), informer.WithLogger(discard))
		var j journal[*corev1.Pod]
		add(t, pods, &j)
		defer start(t, pods)()
		j.saw(t, "+blue@2 initial")
		server.move("blue", "node")
		server.pods.Create(pod("shop", "red", ""))
		j.saw(t)
		pass(91 * time.Second)
		j.saw(t, "~blue@2>3", "+red@4")
		if s := pods.Status().Reflector; !errors.Is(s.LastError, reflector.ErrSilent) || s.State != reflector.StateWatching {
			t.Errorf("status %v", s)
		}

		// The server's storage is restored from a backup: its versions go back, and what was since then is gone.
		server.Restore(before)
		server.pods.Create(pod("shop", "green", ""))
		pass(10 * time.Minute)
		same(t, "objects", names(pods), []string{"shop/blue", "shop/green"})
		same(t, "version", pods.Store().Snapshot().ResourceVersion(), server.ResourceVersion())
		j.check(t, pods)
	})
}

func TestPromise08AWriteCanBeAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		server.BookmarkInterval = -1
		server.Inject(sourcetest.Fault{On: sourcetest.WatchList, Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			a.Events = func(e sourcetest.Event) []sourcetest.Event { // each event takes a minute to arrive
				time.Sleep(time.Minute)
				return []sourcetest.Event{e}
			}
		}})
		pods := newPods(t, server.source(t), informer.WithInitialEventsTimeout(time.Hour), informer.WithSilenceTimeout(time.Hour))
		defer start(t, pods)()
		if err := pods.WaitForCacheSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		blue, _ := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		for _, test := range []struct {
			what  string
			write func() (await func(context.Context) error)
			seen  string
		}{
			{"a version", func() func(context.Context) error {
				written := server.move("blue", "node-1").ResourceVersion
				return func(ctx context.Context) error { return pods.AwaitResourceVersion(ctx, written) }
			}, "node-1"},
			{"an object", func() func(context.Context) error {
				written := server.move("blue", "node-2")
				return func(ctx context.Context) error { return pods.AwaitObject(ctx, written) }
			}, "node-2"},
			{"a deletion", func() func(context.Context) error {
				server.pods.Delete("shop", "blue")
				return func(ctx context.Context) error { return pods.AwaitDeleted(ctx, blue) }
			}, "none"},
		} {
			begin, await := time.Now(), test.write()
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := await(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, too early: %v", test.what, err)
			}
			cancel()
			if err := await(t.Context()); err != nil {
				t.Errorf("%s: %v", test.what, err)
			}
			same(t, "seen after awaiting "+test.what, nodeOf(pods, "blue"), test.seen)
			same(t, "waited for "+test.what, time.Since(begin), time.Minute) // woken by the arrival, to the nanosecond
		}
	})
}

func nodeOf(pods *informer.SharedIndexInformer[*corev1.Pod], name string) string {
	pod, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: name})
	if !ok {
		return "none"
	}
	return pod.Spec.NodeName
}

func TestPromise09NothingLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		sourcetest.Serve[*corev1.Node](server.Server, nodeResource, "Node")
		before := runtime.NumGoroutine()
		f := server.factory(t, informer.WithNamespace("shop"))
		pods, nodes := podsOf(f), informer.For[*corev1.Node](f, nodeResource, informer.WithClusterScope())
		let := make(chan struct{})
		var j journal[*corev1.Pod]
		one := add(t, pods, &j)
		stuck := add(t, pods, &journal[*corev1.Pod]{before: func(string, object.Key) { <-let }}, informer.WithHandlerName("billing"))
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("constructors have started %d goroutines", n-before)
		}
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		j.saw(t, "+blue@2 initial")

		// One handler.
		one.Remove()
		server.move("blue", "node")
		j.saw(t)
		// One informer, with a callback that does not return; and the others run on.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := f.Stop(ctx, pods)
		want(t, err, `informer factory: Stop: context deadline exceeded: pods/v1: handler "billing" has not returned from OnAdd of shop/blue for 5s`)
		if s := nodes.Status(); !s.Running {
			t.Errorf("the other informer: %v", s)
		}
		// The factory, at its deadline.
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err = f.Shutdown(ctx)
		want(t, err, `informer factory: Shutdown: context deadline exceeded: pods/v1: handler "billing" has not returned from OnAdd of shop/blue for 10s`)
		close(let)
		shutdown(t, f)
		stuck.Remove() // The bubble finds every goroutine that is left.
	})
}

func TestPromise10ObjectsAreSharedAndReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "blue", map[string]string{"app": "web"}), labelled("shop", "red", map[string]string{"app": "web"}))
		var found []informer.Mutation
		calls := map[string]int{}
		pods := newPods(t, server.source(t),
			informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
				pod.Labels["seen"] = pod.Name // the object owns all its parts
				calls[pod.Name+"@"+pod.ResourceVersion]++
				return pod, nil
			}),
			informer.WithMutationDetector(func(m informer.Mutation) { found = append(found, m) }))
		var handed *corev1.Pod
		add(t, pods, informer.HandlerFuncs[*corev1.Pod]{
			AddFunc: func(pod *corev1.Pod, _ bool) {
				if pod.Name == "blue" {
					handed = pod
				}
			},
			UpdateFunc: func(_, pod *corev1.Pod) { pod.Labels["app"] = "mine" }, // what nobody may do
		}, informer.WithHandlerName("vandal"))
		defer start(t, pods)()
		cached, _ := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		if cached != handed {
			t.Error("the handler has another copy than the store")
		}
		same(t, "labels of blue", cached.Labels, map[string]string{"app": "web", "seen": "blue"})
		if len(found) != 0 {
			t.Errorf("mutations too early: %v", found)
		}
		server.pods.Update(labelled("shop", "red", map[string]string{"app": "api"}))
		synctest.Wait()
		same(t, "calls of the transform", calls, map[string]int{"blue@2": 1, "red@3": 1, "red@4": 1})
		if len(found) != 1 || !strings.Contains(found[0].Error(), "vandal") || !strings.Contains(found[0].Error(), "app") || !strings.Contains(found[0].Error(), "shop/red") {
			t.Errorf("found %v", found)
		}
	})
}

func TestPromise11HandlersThatPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""), pod("shop", "red", ""))
		var log strings.Builder
		pods := newPods(t, server.source(t), informer.WithLogger(logTo(&log)))
		var j journal[*corev1.Pod]
		var panicking journal[*corev1.Pod]
		panicking.before = func(what string, key object.Key) {
			if key.Name == "blue" {
				panic("on purpose")
			}
		}
		r := add(t, pods, &panicking, informer.WithHandlerName("billing"))
		add(t, pods, &j)
		defer start(t, pods)()
		panicking.saw(t, "+red@3 initial")
		j.sawAll(t, "+blue@2 initial", "+red@3 initial")
		for _, part := range []string{"on purpose", `"key"="shop/blue"`, `"handler"="billing"`, `"callback"="OnAdd"`, "promises_test.go"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log lacks %s: %s", part, log.String())
			}
		}
		if !r.HasSynced() {
			t.Error("the handler does not sync")
		}
		server.move("red", "node")
		panicking.saw(t, "~red@3>4")
		// TestPanicEndsTheProcess shows the option that restores the crash.
	})
}
