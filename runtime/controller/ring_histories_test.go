// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

var (
	ringHistories = flag.Int("ring-histories", 50, "random histories of grants and revokes to play")
	ringHistory   = flag.Uint64("ring-history", 0, "the only history to play, as named by a failure")
)

// TestRandomHistoriesOfARing plays random grants and revokes, events, and reconciles that fail, are
// slow, come back or write. No reconcile begins or runs in a bucket that is not held, and after
// each grant all objects of the bucket are reconciled, at their last state.
func TestRandomHistoriesOfARing(t *testing.T) {
	first, last := uint64(1), uint64(*ringHistories)
	if *ringHistory != 0 {
		first, last = *ringHistory, *ringHistory
	} else if testing.Short() {
		last /= 4
	}
	for seed := first; seed <= last && !t.Failed(); seed++ {
		inBubble(t, func(t *testing.T, r *rig) {
			playRing(t, r, seed)
			if t.Failed() {
				t.Errorf("to repeat it: go test ./runtime/controller -run %s -ring-history %d", t.Name(), seed)
			}
		})
	}
}

// ringPlayer plays one history.
type ringPlayer struct {
	*handRing
	t        *testing.T
	rig      *rig
	random   *rand.Rand
	draining []partition.Set

	mu       sync.Mutex // mu guards the fields below
	dice     *rand.Rand // of reconciles
	calm     bool       // reconciles succeed at once
	allowed  map[int]uint64
	canceled map[partition.Claim]bool
	running  map[int]int
	seen     map[object.Key]lastSeen
	wrote    map[object.Key]lastSeen
}

// lastSeen is the state of an object that its last reconcile began with or wrote.
type lastSeen struct {
	epoch   uint64
	version int64
}

func playRing(t *testing.T, r *rig, seed uint64) {
	by, buckets := partition.By(seed%3), 8
	if by == partition.ByUID {
		buckets = 1024
	}
	p := &ringPlayer{
		handRing: newHandRing(by, buckets), t: t, rig: r, random: rand.New(rand.NewPCG(seed, 1)), dice: rand.New(rand.NewPCG(seed, 2)),
		allowed: map[int]uint64{}, canceled: map[partition.Claim]bool{}, running: map[int]int{}, seen: map[object.Key]lastSeen{}, wrote: map[object.Key]lastSeen{},
	}
	options := controller.Options{Concurrency: 1 + p.random.IntN(3), Ring: p, AwaitTimeout: time.Minute}
	if p.random.IntN(2) == 0 {
		options.Tenant = func(key object.Key) string { return key.Namespace }
	}
	for range 10 {
		p.change()
	}
	if p.random.IntN(2) == 0 {
		p.grantSome()
	}
	lag := r.newLag(time.Second)
	c := r.new(func(ctx context.Context, key object.Key) (result, error) { return p.reconcile(ctx, key, lag) }, options,
		controller.For(r.mapInformer).OfKind(mapKind, true), controller.Owns(r.podInformer))
	run := informertest.Go(t, c.Run)
	for range 20 + p.random.IntN(40) {
		switch action := p.random.IntN(10); {
		case action < 4:
			p.change()
		case action < 5:
			c.Enqueue(object.Key{Namespace: p.namespace(), Name: p.name()})
		case action < 6:
			p.grantSome()
		case action < 8:
			p.revokeSome()
		default:
			time.Sleep(time.Duration(p.random.IntN(4000)) * time.Millisecond)
		}
		if p.random.IntN(2) == 0 {
			synctest.Wait()
			p.checkQueue()
		}
		p.endDrains()
	}
	p.mu.Lock()
	p.calm = true
	p.mu.Unlock()
	time.Sleep(time.Hour)
	synctest.Wait()
	p.checkSeen()
	p.hub.Revoke(p.all())
	synctest.Wait()
	if running, queued := p.count(p.all()); running != 0 || queued != 0 {
		t.Errorf("at the end %d reconciles run and %d keys are queued", running, queued)
	}
	if q := c.Status().Queue; q.High+q.Normal+q.Low+q.Delayed+q.Paced+q.Held+len(q.Running) > 0 {
		t.Errorf("at the end the queue is %+v", q)
	}
	if err := run.End(); !errors.Is(err, errStop) {
		t.Errorf("Run() = %v", err)
	}
}

func (p *ringPlayer) namespace() string { return fmt.Sprint("n", p.random.IntN(4)) }

func (p *ringPlayer) name() string { return fmt.Sprint("m", p.random.IntN(4)) }

// change changes an object.
func (p *ringPlayer) change() {
	m := mapIn(p.namespace(), p.name())
	owned := pod("p-"+m.Name, ownedBy("v1", "ConfigMap", m.Name))
	owned.Namespace = m.Namespace
	_, exists := p.rig.maps.Get(m.Namespace, m.Name)
	_, has := p.rig.pods.Get(m.Namespace, owned.Name)
	switch action := p.random.IntN(4); {
	case action == 0 && has:
		p.rig.pods.Update(owned)
	case action == 0:
		p.rig.pods.Create(owned)
	case !exists:
		p.rig.maps.Create(m)
	case action == 1:
		p.rig.maps.Delete(m.Namespace, m.Name)
	default:
		p.rig.maps.Update(m)
	}
}

func (p *ringPlayer) some(of partition.Set) partition.Set {
	return partition.SetOf(p.hub.Buckets, func(b int) bool { return of.Has(b) && p.random.IntN(2) == 0 })
}

// grantSome grants buckets that are neither held nor draining.
func (p *ringPlayer) grantSome() {
	free := p.all().Without(p.hub.Held())
	for _, set := range p.draining {
		free = free.Without(set)
	}
	set := p.some(free)
	p.mu.Lock()
	for b := range set.All() {
		p.allowed[b] = p.epoch + 1
	}
	p.mu.Unlock()
	p.grant(set)
}

// revokeSome revokes buckets. They drain until endDrains finds that nothing runs.
func (p *ringPlayer) revokeSome() {
	set := p.some(p.hub.Held())
	p.hub.Revoke(set)
	p.draining = append(p.draining, set)
	if p.random.IntN(2) == 0 {
		p.hub.Cancel(set)
		p.mu.Lock()
		defer p.mu.Unlock()
		for b := range set.All() {
			for epoch := range p.epoch + 1 {
				p.canceled[partition.Claim{Hub: p.hub, Bucket: b, Epoch: epoch}] = true
			}
		}
	}
}

func (p *ringPlayer) endDrains() {
	var draining []partition.Set
	for _, set := range p.draining {
		left := partition.SetOf(p.hub.Buckets, func(b int) bool {
			running, _ := p.count(partition.SetOf(b+1, func(other int) bool { return other == b && set.Has(b) }))
			return running > 0
		})
		p.mu.Lock()
		for b := range set.Without(left).All() {
			// Before, a reconcile may begin that was counted before Revoke.
			delete(p.allowed, b)
			if p.running[b] > 0 {
				p.t.Errorf("%d reconciles run in bucket %d, which has drained", p.running[b], b)
			}
		}
		p.mu.Unlock()
		if !left.IsEmpty() {
			draining = append(draining, left)
		}
	}
	p.draining = draining
}

func (p *ringPlayer) reconcile(ctx context.Context, key object.Key, lag *lag) (res result, _ error) {
	claim := *partition.ClaimOf(ctx)
	obj, ok := p.rig.mapInformer.Store().Snapshot().Get(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	if claim.Epoch != p.allowed[claim.Bucket] || claim.Hub != p.hub {
		p.t.Errorf("%v begins with claim %d@%d, and the epoch is %d", key, claim.Bucket, claim.Epoch, p.allowed[claim.Bucket])
	}
	if p.hub.By != partition.ByUID && claim.Bucket != p.hub.BucketOfKey(key.Namespace, key.Name) {
		p.t.Errorf("%v has a claim of bucket %d", key, claim.Bucket)
	}
	if ok {
		now := lastSeen{claim.Epoch, number(obj.ResourceVersion)}
		if last := p.wrote[key]; last.epoch == now.epoch && now.version < last.version {
			p.t.Errorf("%v sees version %d, after it wrote version %d", key, now.version, last.version)
		}
		p.seen[key] = now
	}
	p.running[claim.Bucket]++
	defer func() {
		p.running[claim.Bucket]--
		if p.canceled[claim] && ctx.Err() == nil {
			p.t.Errorf("the context of %v is not done after Cancel", key)
		}
	}()
	if p.calm {
		return res, nil
	}
	wait := func(done <-chan struct{}) {
		timer := time.NewTimer(time.Duration(p.dice.IntN(3000)) * time.Millisecond)
		p.mu.Unlock()
		defer p.mu.Lock()
		select {
		case <-timer.C:
		case <-done:
		}
	}
	switch p.dice.IntN(8) {
	case 0:
		return res, errTry
	case 1:
		res.RequeueAfter = time.Duration(p.dice.IntN(5000)) * time.Millisecond
	case 2:
		wait(nil)
	case 3:
		wait(ctx.Done())
		return res, ctx.Err()
	case 4:
		if _, exists := p.rig.maps.Get(key.Namespace, key.Name); exists {
			token := lag.write(func() []object.Token {
				written := p.rig.maps.Update(mapIn(key.Namespace, key.Name))
				p.wrote[key] = lastSeen{claim.Epoch, number(written.ResourceVersion)}
				return []object.Token{object.TokenOf(mapsResource, written)}
			})
			controller.Wrote(ctx, token[0])
		}
	}
	return res, nil
}

// checkQueue checks that, while all goroutines wait, the queue has no key of another's bucket,
// except those of running reconciles.
func (p *ringPlayer) checkQueue() {
	if running, queued := p.count(p.all().Without(p.hub.Held())); queued > running {
		p.t.Errorf("%d keys of buckets that are not held are queued, and %d of them running", queued, running)
	}
}

// checkSeen checks that the last state of each object in a held bucket was reconciled.
func (p *ringPlayer) checkSeen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.rig.maps.All() {
		b := p.hub.BucketOf(object.MetaOf(m))
		want := lastSeen{p.hub.Epoch(b), number(m.ResourceVersion)}
		if key := object.KeyOf(m); want.epoch > 0 && p.seen[key] != want {
			p.t.Errorf("the last reconcile of %v in bucket %d was of %+v, want %+v", key, b, p.seen[key], want)
		}
	}
}
