// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

var (
	histories = flag.Int("histories", 5000, "random histories to play")
	history   = flag.Uint64("history", 0, "the only history to play, as named by a failure")
)

// TestRandomHistoriesMatchTheModel plays random adds, delays, outcomes, holds, waits, purges and
// shutdowns, and compares the queue with the model after each.
func TestRandomHistoriesMatchTheModel(t *testing.T) {
	if *history != 0 {
		synctest.Test(t, func(t *testing.T) {
			if err := play(*history, t.Logf); err != nil {
				t.Error(err)
			}
		})
		return
	}
	n := *histories
	if testing.Short() {
		n /= 10
	}
	const each = 500
	for from := 0; from < n && !t.Failed(); from += each {
		synctest.Test(t, func(t *testing.T) {
			for seed := from + 1; seed <= min(n, from+each); seed++ {
				if err := play(uint64(seed), func(string, ...any) {}); err != nil {
					t.Fatalf("%v\nto repeat it: go test ./runtime/workqueue -run %s -v -history %d", err, t.Name(), seed)
				}
			}
		})
	}
}

// player plays one history.
type player struct {
	*rand.Rand
	created    time.Time
	queue      *workqueue.Queue[int]
	fair       bool
	model      model
	items      []workqueue.Item[int] // not done
	stale      []workqueue.Item[int] // done
	purges     []purged
	passedOver map[workqueue.Level]int
	log        func(string, ...any)
}

// purged is a call of Purge.
type purged struct {
	ended   <-chan struct{}
	running []workqueue.Item[int] // matching
}

const playedKeys = 7

func play(seed uint64, log func(string, ...any)) error {
	random := rand.New(rand.NewPCG(seed, 0))
	limiters := []workqueue.Exponential{{Base: 4 * ms, Max: 100 * ms}, {Base: 3 * ms, Max: 20 * ms}, {Base: -1}}
	opts := workqueue.Options{Limiter: limiters[random.IntN(len(limiters))], RetryRate: -1}
	m := model{limiter: opts.Limiter, keys: map[int]*modelKey{}, tenants: 1}
	if random.IntN(2) == 0 {
		opts.RetryRate, opts.RetryBurst = 100, 1+random.IntN(3)
		m.interval, m.burst = 10*time.Millisecond, opts.RetryBurst
		m.credit = m.interval * time.Duration(m.burst)
	}
	var tenantOf func(int) string
	if random.IntN(2) == 0 {
		m.tenants = 1 + random.IntN(playedKeys)
		tenantOf = func(key int) string { return fmt.Sprint(key % m.tenants) }
	}
	p := player{
		Rand: random, created: time.Now().UTC(), queue: workqueue.NewFair(opts, tenantOf), fair: tenantOf != nil, model: m,
		passedOver: map[workqueue.Level]int{}, log: log,
	}
	for range 10 + random.IntN(50) {
		if err := p.step(); err != nil {
			return err
		}
	}
	return p.end()
}

func (p *player) now() time.Duration { return time.Since(p.created) }

func (p *player) randomTime(limit int) time.Duration {
	return time.Duration(p.IntN(limit)) * time.Millisecond
}

func (p *player) step() error {
	key := p.IntN(playedKeys)
	switch action := p.IntN(21); {
	case action < 6:
		opts := workqueue.AddOptions{Level: workqueue.Level(p.IntN(3) - 1)}
		if p.IntN(2) == 0 {
			opts.After = p.randomTime(30) - time.Millisecond
		}
		p.log("%v add %d %+v", p.now(), key, opts)
		p.queue.AddWith(key, opts)
		p.model.tick(p.now())
		p.model.add(key, opts, p.now())
	case action < 12:
		if err := p.get(); err != nil {
			return err
		}
	case action < 16:
		p.done()
	case action < 18:
		wait := p.randomTime(25)
		p.log("%v sleep %v", p.now(), wait)
		time.Sleep(wait)
	case action < 20:
		p.log("%v release %d", p.now(), key)
		p.queue.Release(key)
		p.model.tick(p.now())
		p.model.release(key, p.now())
	default:
		p.purge()
	}
	return p.compare()
}

func (p *player) purge() {
	part, of := p.IntN(3), 1+p.IntN(3)
	matches := func(key int) bool { return key%of == part }
	p.log("%v purge %d of %d", p.now(), part, of)
	ended := p.queue.Purge(matches)
	p.model.tick(p.now())
	p.model.purge(matches)
	p.purges = append(p.purges, purged{ended, slices.DeleteFunc(slices.Clone(p.items), func(i workqueue.Item[int]) bool { return !matches(i.Key) })})
}

// checkPurges checks that each purge has ended if its running keys are done.
func (p *player) checkPurges() error {
	for _, purge := range p.purges {
		left := slices.DeleteFunc(slices.Clone(purge.running), func(i workqueue.Item[int]) bool { return !slices.Contains(p.items, i) })
		select {
		case <-purge.ended:
			if len(left) > 0 {
				return fmt.Errorf("a purge has ended while %v runs", left[0].Key)
			}
		default:
			if len(left) == 0 {
				return fmt.Errorf("a purge of %d running keys, which are done, has not ended", len(purge.running))
			}
		}
	}
	return nil
}

// get gets a key if one is ready, now or later.
func (p *player) get() error {
	at := p.now()
	p.model.tick(at)
	for len(p.model.keysIn("ready")) == 0 {
		next, ok := p.model.nextTick(at)
		if !ok {
			time.Sleep(at - p.now()) // until the last hold has ended
			return nil
		}
		at = next
		p.model.tick(at)
	}
	item, err := p.queue.Get(context.Background())
	p.log("%v got %v", p.now(), item.Key)
	if err != nil || p.now() != at {
		return fmt.Errorf("Get() = %v, %w at %v, want a key at %v", item.Key, err, p.now(), at)
	}
	ready := p.model.readyAtLevel(item.Level)
	if len(ready) == 0 || p.model.next(ready) != item.Key {
		return fmt.Errorf("Get() = %d of level %d, want the next of %v", item.Key, item.Level, ready)
	}
	for _, l := range []workqueue.Level{workqueue.Low, workqueue.Normal, workqueue.High} {
		switch {
		case len(p.model.readyAtLevel(l)) == 0 || l == item.Level:
			p.passedOver[l] = 0
			continue
		case l > item.Level && p.passedOver[item.Level] < 14:
			return fmt.Errorf("Get() = %d of level %d, passed over %d times, while %v are ready at level %d",
				item.Key, item.Level, p.passedOver[item.Level], p.model.readyAtLevel(l), l)
		}
		if p.passedOver[l]++; p.passedOver[l] > 15 {
			return fmt.Errorf("level %d was passed over %d times", l, p.passedOver[l])
		}
	}
	if k := p.model.keys[item.Key]; item.Failures != k.failures {
		return fmt.Errorf("Get() = %d with %d failures, want %d", item.Key, item.Failures, k.failures)
	}
	p.model.get(item.Key, p.now())
	p.items = append(p.items, item)
	return nil
}

// done ends an item, if any is with a worker.
func (p *player) done() {
	if len(p.stale) > 0 {
		p.stale[p.IntN(len(p.stale))].Done(workqueue.Outcome{Failed: true}) // must do nothing
		p.model.tick(p.now())
	}
	if len(p.items) == 0 {
		return
	}
	item, outcome := p.pick()
	p.log("%v done %d %+v", p.now(), item.Key, outcome)
	item.Done(outcome)
	p.model.tick(p.now())
	p.model.done(item.Key, outcome, p.now())
}

// pick removes one of the items, and returns it with an outcome.
func (p *player) pick() (workqueue.Item[int], workqueue.Outcome) {
	at := p.IntN(len(p.items))
	item := p.items[at]
	p.items = slices.Delete(p.items, at, at+1)
	p.stale = append(p.stale, item)
	outcome := workqueue.Outcome{Failed: p.IntN(3) == 0}
	if p.IntN(4) == 0 {
		outcome.After = p.randomTime(30)
	}
	if p.IntN(4) == 0 {
		outcome.Hold = p.randomTime(30)
	}
	return item, outcome
}

// compare compares the queue with the model.
func (p *player) compare() error {
	p.model.tick(p.now())
	for key := range playedKeys {
		got, known := p.queue.StatusOf(key)
		if want, wantKnown := p.model.statusOf(key, p.created); known != wantKnown || known && got != want {
			return fmt.Errorf("at %v: StatusOf(%d) = %+v, %v, want %+v, %v", p.now(), key, got, known, want, wantKnown)
		}
	}
	if keys, want := slices.Sorted(slices.Values(p.queue.Keys())), slices.Sorted(maps.Keys(p.model.keys)); !slices.Equal(keys, want) {
		return fmt.Errorf("at %v: Keys() = %v, want %v", p.now(), keys, want)
	}
	status := p.queue.Status()
	counts := map[string]int{
		"ready": status.High + status.Normal + status.Low, "delayed": status.Delayed, "paced": status.Paced,
		"held": status.Held, "running": len(status.Running),
	}
	for state, got := range counts {
		if want := len(p.model.keysIn(state)); got != want {
			return fmt.Errorf("at %v: %d keys are %s, want %d", p.now(), got, state, want)
		}
	}
	failing := 0
	for _, k := range p.model.keys {
		if k.failures > 0 {
			failing++
		}
	}
	if status.Failing != failing || status.Dropped != p.model.dropped {
		return fmt.Errorf("at %v: %d failing, %d dropped, want %d and %d", p.now(), status.Failing, status.Dropped, failing, p.model.dropped)
	}
	if want := p.model.tenantCount(); p.fair && status.Tenants != want || !p.fair && status.Tenants != 0 {
		return fmt.Errorf("at %v: %d tenants, want %d; fair: %v", p.now(), status.Tenants, want, p.fair)
	}
	for l := workqueue.Low; l <= workqueue.High; l++ {
		if len(p.model.readyAtLevel(l)) == 0 {
			p.passedOver[l] = 0
		}
	}
	return errors.Join(p.checkPurges(), p.queue.Check())
}

// end shuts the queue down and gets the remaining keys.
func (p *player) end() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range 1 + p.IntN(2) {
		mode := workqueue.Mode(p.IntN(3))
		p.log("%v shut down, mode %d", p.now(), mode)
		err := p.queue.ShutDown(ended, mode)
		p.model.tick(p.now())
		p.model.shutDown(mode)
		if left := len(p.model.keys); (err == nil) != (left == 0) {
			return fmt.Errorf("ShutDown() with %d keys = %w", left, err)
		}
		for _, item := range p.items[:min(len(p.items), 10)] {
			if named := fmt.Sprintf(" %d for ", item.Key); !strings.Contains(err.Error(), named) {
				return fmt.Errorf("the error of ShutDown does not name%s: %w", named, err)
			}
		}
		if err := p.compare(); err != nil {
			return err
		}
	}
	for len(p.model.keysIn("ready")) > 0 || len(p.items) > 0 {
		if p.queue.Add(1 << 20); p.queue.Len() != len(p.model.keysIn("ready")) {
			return errors.New("Add after ShutDown has added a key")
		}
		if p.IntN(8) == 0 {
			p.purge()
		}
		p.getReady()
		p.done()
		if err := p.compare(); err != nil {
			return err
		}
	}
	if _, err := p.queue.Get(context.Background()); !errors.Is(err, workqueue.ErrShutDown) {
		return fmt.Errorf("Get() at the end = %w, want ErrShutDown", err)
	}
	return p.queue.ShutDown(context.Background(), workqueue.Drain)
}

// getReady gets a key if one is ready.
func (p *player) getReady() {
	if len(p.model.keysIn("ready")) == 0 {
		return
	}
	item, err := p.queue.Get(context.Background())
	if err != nil {
		return // compare finds the difference
	}
	p.log("%v got %v", p.now(), item.Key)
	p.model.get(item.Key, p.now())
	p.items = append(p.items, item)
}

// statusOf returns the expected result of Queue.StatusOf.
func (m *model) statusOf(key int, created time.Time) (s workqueue.KeyStatus[int], known bool) {
	k := m.keys[key]
	if k == nil {
		return s, false
	}
	s = workqueue.KeyStatus[int]{
		Key: key, Level: k.level, Failures: k.failures, Running: k.state == "running", Held: k.state == "held",
		Paced: k.state == "paced", Ready: k.state == "ready" || k.state == "running" && k.requeue,
	}
	switch {
	case k.state == "held":
		s.Level = k.requeueLevel
	case k.state == "running" || k.state == "ready":
		s.Since = created.Add(k.since)
	case k.failures > 0:
		s.Since = created.Add(k.ended)
	}
	switch {
	case k.state == "held" || k.state == "delayed":
		s.Due = created.Add(k.due)
	case k.state == "running" && k.requeueLater:
		s.Due = created.Add(k.requeueAt)
	}
	return s, true
}
