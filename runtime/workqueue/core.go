// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// core is a Queue without its keys: it knows them by the number of their slot. So it is compiled
// once, for all types of keys.
//
//	            ┌──────────── delay, failure ────────────┐
//	            ▼                                        │
//	add ─▶ delayed ─▶ paced (after a failure) ─▶ ready ─▶ running ─▶ gone
//	 │                                             ▲     │
//	 └──────────────────── now ────────────────────┘     └─▶ held ─▶ any of these
//
// Times are in nanoseconds since the queue was made.
type core struct {
	// set once at construction
	made    time.Time
	limiter Limiter
	least   int64 // Limiter.Least
	keys    keeper

	mu sync.Mutex // guards what follows

	slots pages[slot]
	free  int32 // the first free slot, linked by a; none if there is none
	used  int   // slots that are not free
	grown int64 // when slots grew last
	table table

	ready     [levels]list
	passed    [levels]uint8 // hand-outs of others since the last one of this, while it had a key
	paced     list
	pace      pace
	delays    delays
	running   []int32
	runs      uint32
	handedOut int64 // when the last hand-out was
	random    *rand.Rand

	waiters []*waiter // in Get, that are not woken
	spare   []*waiter
	waking  bool  // one was woken, and has not looked yet
	quiet   int64 // none is woken before, while keys are worked on
	timer   *time.Timer
	armed   int64 // when timer fires; 0 if it doesn't

	closing
	stats
}

// keeper has the keys of slots. Its methods are called with the core's lock held.
type keeper interface {
	grow()       // adds as many keys as slots were added
	clear(int32) // forgets the key of a slot that becomes free
	drop(int32)  // notes a key that a shutdown drops, before it is cleared
	reset()      // forgets all keys
}

func (c *core) init(opts Options, keys keeper) {
	c.limiter = opts.Limiter
	if c.limiter == nil {
		c.limiter = Exponential{Base: 5 * time.Millisecond, Max: 1000 * time.Second, Jitter: 0.1}
	}
	rate, burst, seed := opts.RetryRate, opts.RetryBurst, opts.Seed
	if rate == 0 {
		rate = 100
	}
	if burst == 0 {
		burst = 1000
	}
	if seed == 0 {
		seed = rand.Uint64()
	}
	c.pace = newPace(rate, burst)
	c.random = rand.New(rand.NewPCG(seed, 0))
	c.made, c.least, c.keys, c.free = time.Now(), int64(max(0, c.limiter.Least())), keys, none
	c.ended = make(chan struct{})
}

// A level's number is its place in the order of hand-outs.
const levels = 3

func numberOf(l Level) uint8 { return uint8(High - max(Low, min(High, l))) }

func levelOf(number uint8) Level { return High - Level(number) }

func (c *core) now() int64 { return int64(time.Since(c.made)) }

// at returns a time as others know it.
func (c *core) at(t int64) time.Time { return c.made.Add(time.Duration(t)) }

// later returns the time d after t, or the last one there is.
func later(t int64, d time.Duration) int64 {
	if sum := t + int64(d); sum >= t {
		return sum
	}
	return math.MaxInt64
}

// acquire returns a slot that is in no state, for a key of that hash.
func (c *core) acquire(hash uint32, now int64) int32 {
	if c.free == none {
		from := c.slots.len()
		c.slots = c.slots.grown()
		c.keys.grow()
		c.grown = now
		for i := c.slots.len() - 1; i >= from; i-- {
			c.slots.at(i).a, c.free = c.free, i
		}
	}
	i := c.free
	s := c.slots.at(i)
	c.free = s.a
	*s = slot{hash: hash}
	c.used++
	c.table.insert(hash, i)
	return i
}

// keepMemory is how long slots are kept that a queue needed once, and largeQueue is how many of
// them are always kept.
const (
	keepMemory = int64(time.Minute)
	largeQueue = 4 * pageSlots
)

// release frees a slot, which is in no list and not running.
func (c *core) release(i int32, now int64) {
	s := c.slots.at(i)
	c.table.remove(s.hash, i)
	if s.failures > 0 {
		c.failing--
	}
	c.keys.clear(i)
	*s = slot{a: c.free}
	c.free = i
	if c.used--; c.used == 0 && len(c.slots)*pageSlots > largeQueue && now-c.grown > keepMemory {
		c.slots, c.free, c.table, c.delays = nil, none, table{}, delays{}
		c.keys.reset()
	}
}

// makeReady puts a slot, which is in no list, at the end of its level.
func (c *core) makeReady(i int32, since int64) {
	s := c.slots.at(i)
	s.flags, s.since = ready, since
	c.ready[s.level].push(c.slots, i, s)
}

// makeDelayed has a slot wait until due.
func (c *core) makeDelayed(i int32, due int64, why flags) {
	s := c.slots.at(i)
	s.flags = delayed | why
	c.delays.push(due, i, s)
}

// atOnce is how many delays come up in one step at most, so that the lock is not held for long.
// There are two steps for each key that is handed out, Get and Done, so what is due does not pile
// up.
const atOnce = 8

// tick does what is due.
func (c *core) tick(now int64) {
	if c.delays.isDue(now) || c.paced.n > 0 {
		c.comeUp(now)
	}
}

func (c *core) comeUp(now int64) {
	for n := 0; n < atOnce && c.delays.isDue(now); {
		e := c.delays.pop()
		s := c.slots.at(e.slot)
		if !s.waitsFor(e) {
			c.delays.stale--
			continue
		}
		if n++; s.is(held) {
			c.endHold(e.slot, now)
		} else {
			c.due(e.slot, e.due)
		}
	}
	for c.paced.n > 0 && c.pace.take(now) {
		i := c.paced.first
		c.paced.remove(c.slots, c.slots.at(i))
		c.makeReady(i, now)
		c.adds++
	}
}

// due is called for a slot whose delay has ended.
func (c *core) due(i int32, at int64) {
	s := c.slots.at(i)
	if s.is(retry) && c.pace.interval > 0 {
		s.flags = paced
		c.paced.push(c.slots, i, s)
		return
	}
	c.makeReady(i, at)
	c.adds++
}
