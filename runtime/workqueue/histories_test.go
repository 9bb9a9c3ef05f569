// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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
	history   = flag.Uint64("history", 0, "the one history to play, which a failure names")
)

// TestRandomHistoriesGoAsInTheModel plays adds, delays, outcomes, holds, waits and shutdowns at
// random, and compares the queue with the model after each of them.
func TestRandomHistoriesGoAsInTheModel(t *testing.T) {
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
	made   time.Time
	queue  *workqueue.Queue[int]
	model  model
	items  []workqueue.Item[int] // that are not done
	stale  []workqueue.Item[int] // that are
	passed map[workqueue.Level]int
	log    func(string, ...any)
}

const playedKeys = 7

func play(seed uint64, log func(string, ...any)) error {
	random := rand.New(rand.NewPCG(seed, 0))
	limiters := []workqueue.Exponential{{Base: 4 * ms, Max: 100 * ms}, {Base: 3 * ms, Max: 20 * ms}, {Base: -1}}
	opts := workqueue.Options{Limiter: limiters[random.IntN(len(limiters))], RetryRate: -1}
	m := model{limiter: opts.Limiter, keys: map[int]*modelled{}}
	if random.IntN(2) == 0 {
		opts.RetryRate, opts.RetryBurst = 100, 1+random.IntN(3)
		m.interval, m.burst = 10*time.Millisecond, opts.RetryBurst
		m.credit = m.interval * time.Duration(m.burst)
	}
	p := player{
		Rand: random, made: time.Now().UTC(), queue: workqueue.New[int](opts), model: m,
		passed: map[workqueue.Level]int{}, log: log,
	}
	for range 10 + random.IntN(50) {
		if err := p.step(); err != nil {
			return err
		}
	}
	return p.end()
}

func (p *player) now() time.Duration { return time.Since(p.made) }

func (p *player) some(most int) time.Duration { return time.Duration(p.IntN(most)) * time.Millisecond }

func (p *player) step() error {
	key := p.IntN(playedKeys)
	switch action := p.IntN(20); {
	case action < 6:
		opts := workqueue.AddOptions{Level: workqueue.Level(p.IntN(3) - 1)}
		if p.IntN(2) == 0 {
			opts.After = p.some(30) - time.Millisecond
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
		wait := p.some(25)
		p.log("%v sleep %v", p.now(), wait)
		time.Sleep(wait)
	default:
		p.log("%v release %d", p.now(), key)
		p.queue.Release(key)
		p.model.tick(p.now())
		p.model.release(key, p.now())
	}
	return p.compare()
}

// get gets a key, if one is ready or will be.
func (p *player) get() error {
	at := p.now()
	p.model.tick(at)
	for len(p.model.of("ready")) == 0 {
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
		return fmt.Errorf("got %v, %w at %v, want a key at %v", item.Key, err, p.now(), at)
	}
	ready := p.model.ready(item.Level)
	if len(ready) == 0 || ready[0] != item.Key {
		return fmt.Errorf("got %d of level %d, where %v are ready", item.Key, item.Level, ready)
	}
	for _, l := range []workqueue.Level{workqueue.Low, workqueue.Normal, workqueue.High} {
		switch {
		case len(p.model.ready(l)) == 0 || l == item.Level:
			p.passed[l] = 0
			continue
		case l > item.Level && p.passed[item.Level] < 14:
			return fmt.Errorf("got %d of level %d, after %d others, while %v are ready at level %d",
				item.Key, item.Level, p.passed[item.Level], p.model.ready(l), l)
		}
		if p.passed[l]++; p.passed[l] > 15 {
			return fmt.Errorf("level %d was passed over %d times", l, p.passed[l])
		}
	}
	if k := p.model.keys[item.Key]; item.Failures != k.failures {
		return fmt.Errorf("got %d with %d failures, want %d", item.Key, item.Failures, k.failures)
	}
	p.model.get(item.Key, p.now())
	p.items = append(p.items, item)
	return nil
}

// done ends an item, if there is one.
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

// pick takes one of the items, and an outcome for it.
func (p *player) pick() (workqueue.Item[int], workqueue.Outcome) {
	at := p.IntN(len(p.items))
	item := p.items[at]
	p.items = slices.Delete(p.items, at, at+1)
	p.stale = append(p.stale, item)
	outcome := workqueue.Outcome{Failed: p.IntN(3) == 0}
	if p.IntN(4) == 0 {
		outcome.After = p.some(30)
	}
	if p.IntN(4) == 0 {
		outcome.Hold = p.some(30)
	}
	return item, outcome
}

// compare looks at all keys.
func (p *player) compare() error {
	p.model.tick(p.now())
	for key := range playedKeys {
		got, known := p.queue.StatusOf(key)
		if want, wantKnown := p.model.statusOf(key, p.made); known != wantKnown || known && got != want {
			return fmt.Errorf("at %v key %d: got  %+v, %v, want %+v, %v", p.now(), key, got, known, want, wantKnown)
		}
	}
	status := p.queue.Status()
	counts := map[string]int{
		"ready": status.High + status.Normal + status.Low, "delayed": status.Delayed, "paced": status.Paced,
		"held": status.Held, "running": len(status.Running),
	}
	for state, got := range counts {
		if want := len(p.model.of(state)); got != want {
			return fmt.Errorf("at %v: %d are %s, want %d", p.now(), got, state, want)
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
	for l := workqueue.Low; l <= workqueue.High; l++ {
		if len(p.model.ready(l)) == 0 {
			p.passed[l] = 0
		}
	}
	return p.queue.Check()
}

// end shuts the queue down and gets what is left.
func (p *player) end() error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for range 1 + p.IntN(2) {
		mode := workqueue.Mode(p.IntN(3))
		p.log("%v shut down, mode %d", p.now(), mode)
		err := p.queue.ShutDown(over, mode)
		p.model.tick(p.now())
		p.model.shutDown(mode)
		if left := len(p.model.keys); (err == nil) != (left == 0) {
			return fmt.Errorf("shut down with %d keys: %w", left, err)
		}
		for _, item := range p.items[:min(len(p.items), 10)] {
			if named := fmt.Sprintf(" %d for ", item.Key); !strings.Contains(err.Error(), named) {
				return fmt.Errorf("the error does not name%s: %w", named, err)
			}
		}
		if err := p.compare(); err != nil {
			return err
		}
	}
	for len(p.model.of("ready")) > 0 || len(p.items) > 0 {
		if p.queue.Add(1 << 20); p.queue.Len() != len(p.model.of("ready")) {
			return errors.New("a key was added to a queue that is shut down")
		}
		p.get2()
		p.done()
		if err := p.compare(); err != nil {
			return err
		}
	}
	if _, err := p.queue.Get(context.Background()); !errors.Is(err, workqueue.ErrShutDown) {
		return fmt.Errorf("Get at the end: %w", err)
	}
	return p.queue.ShutDown(context.Background(), workqueue.Drain)
}

// get2 gets a key at the end.
func (p *player) get2() {
	if len(p.model.of("ready")) == 0 {
		return
	}
	item, err := p.queue.Get(context.Background())
	if err != nil {
		return // which the comparison will find
	}
	p.log("%v got %v", p.now(), item.Key)
	p.model.get(item.Key, p.now())
	p.items = append(p.items, item)
}

// statusOf is what Queue.StatusOf has to return.
func (m *model) statusOf(key int, made time.Time) (s workqueue.KeyStatus[int], known bool) {
	k := m.keys[key]
	if k == nil {
		return s, false
	}
	s = workqueue.KeyStatus[int]{
		Key: key, Level: k.level, Failures: k.failures, Running: k.state == "running", Held: k.state == "held",
		Paced: k.state == "paced", Ready: k.state == "ready" || k.state == "running" && k.again,
	}
	switch {
	case k.state == "held":
		s.Level = k.nextLevel
	case k.state == "running" || k.state == "ready":
		s.Since = made.Add(k.since)
	case k.failures > 0:
		s.Since = made.Add(k.ended)
	}
	switch {
	case k.state == "held" || k.state == "delayed":
		s.Due = made.Add(k.due)
	case k.state == "running" && k.later:
		s.Due = made.Add(k.at)
	}
	return s, true
}
