// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// newRing returns a ring of 64 buckets, none of them wanted.
func newRing(by partition.By, roots ...partition.Root) testRing {
	return testRing{partition.NewHub(partition.Partition{By: by, Buckets: 64, Roots: roots})}
}

// want makes the buckets of these names the wanted ones: of namespaces, or of "namespace/name".
func (r testRing) want(names ...string) {
	buckets := map[int]bool{}
	for _, text := range names {
		namespace, name, _ := strings.Cut(text, "/")
		buckets[r.hub.BucketOfKey(namespace, name)] = true
	}
	r.hub.SetWanted(partition.SetOf(64, func(b int) bool { return buckets[b] }))
}

// loaded fails the test unless the wanted buckets are loaded, or not.
func (r testRing) loaded(t *testing.T, loaded bool) {
	t.Helper()
	synctest.Wait()
	if (r.hub.Loaded() == r.hub.Wanted()) != loaded {
		t.Errorf("%d of %d wanted buckets are loaded; want all: %v", r.hub.Loaded().Len(), r.hub.Wanted().Len(), loaded)
	}
}

var listing = informer.WithTuning(reflector.Tuning{DisableWatchList: true})

// ofPods returns the requests for pods since the first n requests, by namespace, without the first
// part of the path.
func (r *realm) ofPods(n int) (all []string) {
	for _, request := range r.Requests()[n:] {
		if request.Resource == podResource {
			all = append(all, strings.TrimSpace(request.Verb.String()+" "+request.Namespace))
		}
	}
	return all
}

// TestRingGainsAndLoses moves the buckets of three pods to and from an informer with one stream.
func TestRingGainsAndLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("", pod("shop", "a", ""), pod("shop", "b", ""), pod("shop", "c", "")), newRing(partition.ByKey)
		f := r.Factory(t, informer.WithRing(ring), listing, informer.WithLogger(discard))
		pods := podsOf(f)
		var j journal[*corev1.Pod]
		registration := informertest.Add(t, pods, &j)
		run(t, f)
		ring.loaded(t, true)
		j.Saw(t)
		same(t, "requests without buckets", len(r.Requests()), 0)
		same(t, "synced", []bool{pods.HasSynced(), registration.HasSynced()}, []bool{true, true})
		same(t, "status", pods.Status().String(), "pods/v1: no buckets; 0 of 0 wanted buckets loaded (mode client); synced, 0 objects at resourceVersion ")

		ring.want("shop/a")
		ring.loaded(t, true)
		j.Saw(t, "+a@2")
		ring.want("shop/a", "shop/b")
		time.Sleep(time.Millisecond)
		ring.want("shop/a", "shop/b", "shop/c")
		ring.loaded(t, false)
		pass(time.Second)
		ring.loaded(t, true)
		j.SawAll(t, "+b@3", "+c@4")
		same(t, "requests", r.ofPods(0), []string{"list", "watch", "list", "watch"})
		same(t, "ring", *pods.Status().Ring, informer.RingStatus{Mode: "client", Buckets: 64, Wanted: 3, Loaded: 3})
		same(t, "modes", ring.hub.Modes(), []partition.Mode{{Informer: "pods/v1", Mode: "client"}})
		r.Move("a", "node")
		j.Saw(t, "~a@2>5")

		ring.want("shop/b", "shop/c")
		j.Saw(t, "-a@5 unknown")
		r.Move("a", "another")
		r.Move("b", "node")
		j.Saw(t, "~b@3>7")
		pass(time.Second)
		same(t, "requests", r.ofPods(0), []string{"list", "watch", "list", "watch"})
		ring.want()
		j.SawAll(t, "-b@7 unknown", "-c@4 unknown")
		same(t, "objects", informertest.Names(pods), []string{})
		j.Check(t, pods)
		shutdown(t, f)
		same(t, "informers in the ring", len(ring.hub.Modes()), 0)
	})
}

// TestRingWhileAListFails gains a bucket while lists fail: the store keeps the old buckets, and
// Status says why.
func TestRingWhileAListFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("", pod("shop", "a", ""), pod("shop", "b", "")), newRing(partition.ByKey)
		f := r.Factory(t, informer.WithRing(ring), listing, informer.WithLogger(discard))
		pods := podsOf(f)
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		ring.want("shop/a")
		run(t, f)
		j.Saw(t, "+a@2 initial")
		end := r.Outage()
		ring.want("shop/a", "shop/b")
		pass(time.Minute)
		ring.loaded(t, false)
		same(t, "objects", informertest.Names(pods), []string{"shop/a"})
		if s := pods.Status(); !errors.Is(s.Reflector.LastError, informertest.ErrOutage) || s.Ring.Loaded != 1 || s.Ring.Wanted != 2 {
			t.Errorf("Status() = %v", s)
		}
		end()
		pass(time.Minute)
		ring.loaded(t, true)
		j.Saw(t, "+b@3")
		shutdown(t, f)
	})
}

// TestRingFollowsOwners moves pods from one owner to another: an object that leaves the informer's
// buckets is deleted, one that enters is added, whatever the type of its event.
func TestRingFollowsOwners(t *testing.T) {
	for _, by := range []partition.By{partition.ByKey, partition.ByUID} {
		inBubble(t, by.String(), func(t *testing.T) {
			r, ring := newRealm("", owned("shop", "mine", 1), owned("shop", "foreign", 2)), newRing(by, orders...)
			ring.want("shop/order-1")
			if by == partition.ByUID {
				b := ring.hub.BucketOf(object.MetaOf(owned("shop", "mine", 1)))
				ring.hub.SetWanted(partition.SetOf(64, func(other int) bool { return other == b }))
			}
			f := r.Factory(t, informer.WithRing(ring), informer.WithLogger(discard))
			pods := podsOf(f)
			var j journal[*corev1.Pod]
			informertest.Add(t, pods, &j)
			run(t, f)
			j.Saw(t, "+mine@2 initial")
			r.Pods.Update(owned("shop", "foreign", 1))
			j.Saw(t, "+foreign@4")
			r.Pods.Update(owned("shop", "mine", 2))
			j.Saw(t, "-mine@2")
			r.Pods.Update(owned("shop", "mine", 3))
			r.Pods.Delete("shop", "mine")
			r.Pods.Delete("shop", "foreign")
			j.Saw(t, "-foreign@8")
			same(t, "version", pods.Status().ResourceVersion, "8")
			shutdown(t, f)
		})
	}
}

// TestRingReadsNamespaces has a stream for each namespace in a wanted bucket. Namespaces are made
// and deleted, buckets come and go.
func TestRingReadsNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("north south", pod("north", "a", ""), pod("south", "b", ""), pod("west", "c", "")), newRing(partition.ByNamespace)
		f := r.Factory(t, informer.WithRing(ring), listing, informer.WithLogger(discard))
		pods := podsOf(f)
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		ring.want("north", "west")
		run(t, f)
		ring.loaded(t, true)
		j.Saw(t, "+a@2 initial")
		r.namespaces.Create(namespace("west"))
		j.Saw(t, "+c@4")
		same(t, "requests", r.ofPods(0), []string{"list north", "watch north", "list west", "watch west"})
		ring.want("west", "south")
		j.SawAll(t, "-a@2 unknown", "+b@3")
		ring.loaded(t, true)
		same(t, "ring", *pods.Status().Ring, informer.RingStatus{Mode: "namespaces", Buckets: 64, Wanted: 2, Loaded: 2})
		same(t, "requests", r.readNamespaces(0), []string{"north", "south", "west"})

		// A namespace that can't be read keeps its bucket from being loaded, and no other.
		end := r.Inject(sourcetest.Fault{Resource: podResource, Match: func(r sourcetest.Request) bool { return r.Namespace == "north" }, Times: sourcetest.Always, Do: sourcetest.Refuse(403)})
		ring.want("west", "north")
		ring.loaded(t, false)
		if !ring.hub.Loaded().Has(ring.hub.BucketOfKey("west", "")) {
			t.Error("the bucket of west is not loaded")
		}
		end()
		pass(time.Minute)
		ring.loaded(t, true)
		j.SawAll(t, "-b@3 unknown", "+a@2")
		same(t, "AddNamespace", pods.AddNamespace("x").Error(), "informer pods/v1: AddNamespace: the informer reads the namespaces and buckets of its ring; make one without WithRing")
		j.Check(t, pods)
		shutdown(t, f)
	})
}

// TestRingOfManyNamespaces reads everything with one stream, and so does an informer of a
// cluster-scoped kind.
func TestRingOfManyNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []string
		for n := range 201 {
			all = append(all, fmt.Sprint("ns-", n))
		}
		r, ring := newRealm(strings.Join(all, " "), pod("ns-0", "a", ""), pod("ns-1", "b", "")), newRing(partition.ByNamespace)
		sourcetest.Serve[*corev1.Node](r.Server, nodeResource, "Node").Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ns-0"}})
		f := r.Factory(t, informer.WithRing(ring), listing, informer.WithLogger(discard))
		pods, nodes := podsOf(f), factories.For[*corev1.Node](f, nodeResource, factories.WithClusterScope())
		ring.want(all...)
		run(t, f)
		same(t, "modes", []string{pods.Status().Ring.Mode, nodes.Status().Ring.Mode}, []string{"client", "client"})
		same(t, "requests", r.selectors(0, all...), []string{"list " + strings.Join(all, " "), "watch"})
		same(t, "objects", append(informertest.Names(pods), informertest.Names(nodes)...), []string{"ns-0/a", "ns-1/b", "ns-0"})
		ring.want("ns-1")
		synctest.Wait()
		same(t, "objects", append(informertest.Names(pods), informertest.Names(nodes)...), []string{"ns-1/b"})
		ring.loaded(t, true)
		shutdown(t, f)
	})
}

// TestRingBeforeNamespacesAreKnown: an informer that runs again loses a bucket although it can't
// read the namespaces.
func TestRingBeforeNamespacesAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("north south", pod("north", "a", ""), pod("south", "b", "")), newRing(partition.ByNamespace)
		f := r.Factory(t, informer.WithRing(ring), informer.WithLogger(discard))
		pods := podsOf(f)
		ring.want("north", "south")
		lease := acquire(t.Context(), t, pods)
		ring.loaded(t, true)
		noError(t, lease.Release(t.Context()))
		end := r.ofNamespaces(sourcetest.Refuse(503))
		lease = acquire(t.Context(), t, pods)
		synctest.Wait()
		ring.want("north")
		synctest.Wait()
		same(t, "objects", informertest.Names(pods), []string{"north/a"})
		ring.want()
		synctest.Wait()
		same(t, "objects", informertest.Names(pods), []string{})
		end()
		noError(t, lease.Release(t.Context()))
		shutdown(t, f)
	})
}

// TestRingOfAResourceToCome: while the server lacks an optional resource, it has no objects to
// wait for.
func TestRingOfAResourceToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm(""), newRing(partition.ByKey)
		f := r.Factory(t, informer.WithRing(ring), informer.WithOptionalResource(), informer.WithLogger(discard))
		nodes := factories.For[*corev1.Node](f, nodeResource)
		ring.want("/a")
		noError(t, f.Start(t.Context()))
		pass(time.Minute)
		ring.loaded(t, true)
		sourcetest.Serve[*corev1.Node](r.Server, nodeResource, "Node").Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		pass(time.Minute)
		ring.loaded(t, true)
		same(t, "nodes", informertest.Names(nodes), []string{"a"})
		shutdown(t, f)
	})
}

// TestAwaitInARing waits for writes to objects of buckets that stay, go, and are not there.
func TestAwaitInARing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("north south", pod("north", "a", ""), pod("south", "b", "")), newRing(partition.ByNamespace)
		pods := newPods(t, r.Source(t), informer.WithRing(ring), informer.WithLogger(discard))
		ring.want("north", "south")
		start(t, pods)
		noError(t, pods.AwaitObject(t.Context(), r.Pods.Update(pod("north", "a", "node"))))
		later := func(namespace, name string) chan error {
			p, done := pod(namespace, name, ""), make(chan error, 1)
			p.ResourceVersion = "1000"
			go func() { done <- pods.AwaitObject(t.Context(), p) }()
			return done
		}
		gone := make(chan error, 1)
		b, _ := r.Pods.Get("south", "b")
		go func() { gone <- pods.AwaitDeleted(t.Context(), b) }()
		held, lost := later("north", "a"), later("south", "new")
		synctest.Wait()
		ring.want("north")
		const why = "this process reads the object's bucket of the ring no more"
		for _, err := range []error{<-lost, <-gone, <-later("south", "b")} {
			if err == nil || !strings.HasSuffix(err.Error(), why) {
				t.Errorf("the wait ended with %v", err)
			}
		}
		if _, err := pods.AfterToken(object.Token{Key: object.Key{Namespace: "south", Name: "b"}, ResourceVersion: "9"}, func() {}); err == nil {
			t.Error("AfterToken of an object of a lost bucket returns no error")
		}
		synctest.Wait()
		select {
		case err := <-held:
			t.Errorf("the wait for an object of another bucket ended with %v", err)
		default:
		}
		ring.want()
		if err := <-held; err == nil || !strings.HasSuffix(err.Error(), why) {
			t.Errorf("the wait ended with %v", err)
		}
	})
}

// TestRingBesideOtherOptions shows the errors of options that don't go together, and the names of
// informers of one resource.
func TestRingBesideOtherOptions(t *testing.T) {
	ring, keys := informer.WithRing(newRing(partition.ByNamespace)), informer.WithRing(newRing(partition.ByKey, orders...))
	for text, opts := range map[string][]informer.Option{
		"WithRing: the ring is nil; make one with shard.New":                                                                                              {informer.WithRing(nil)},
		"WithRing: WithNamespaceSelector was given too, but a ring chooses the namespaces by itself; leave it out, or add WithoutRing":                    {ring, inProduction},
		"WithRing: WithShardSelector was given too, but a ring chooses the shards by itself; leave it out, or add WithoutRing":                            {ring, informer.WithShardSelector("shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')")},
		"WithRing: WithCheckpoint was given too, but after a restart the process has other buckets than its checkpoint; leave it out, or add WithoutRing": {ring, informer.WithCheckpoint(t.TempDir())},
	} {
		f := newShop().Factory(t)
		podsOf(f, opts...)
		want(t, f.Start(t.Context()), "informer factory: Start: factories.For pods/v1: "+text)
		shutdown(t, f)
	}
	f := newShop().Factory(t, keys)
	pods, all := podsOf(f), podsOf(f, informer.WithoutRing())
	same(t, "names", []string{pods.Status().Name, all.Status().Name, podsOf(f, ring).Status().Name}, []string{"pods/v1", "pods/v1 without a ring", "pods/v1 in a ring"})
	if all.Status().Ring != nil || pods == all {
		t.Error("WithoutRing returns an informer with a ring")
	}
	shutdown(t, f)
	f = newShop().Factory(t, informer.WithRing(nil))
	want(t, f.Start(t.Context()), "informer factory: Start: factories.New: WithRing: the ring is nil; make one with shard.New")
}

// TestRingNeedsOwners: neither a projection nor a transform may hide the owners from a ring.
func TestRingNeedsOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("", owned("shop", "mine", 1)), newRing(partition.ByKey, orders...)
		ring.want("shop/order-1")
		pods := newPods(t, r.Source(t), informer.WithRing(ring), informer.WithLogger(discard), informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
			pod.OwnerReferences = nil
			return pod, nil
		}))
		start(t, pods)
		if err := pods.Status().Reflector.LastError; err == nil || !strings.Contains(err.Error(), "controlling owner reference") {
			t.Errorf("the error of the transform is %v", err)
		}
		ring.loaded(t, false)
	})
}
