// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRandomHistories drives an informer with random streams, handlers of all kinds that come and go, and restarts, and
// compares the store with a naive model after each step, and each handler's view with the store at the end. That each
// handler is told only what can be, recorder checks with each event.
func TestRandomHistories(t *testing.T) {
	seed := rand.Uint64()
	for round := range 200 {
		synctest.Test(t, func(t *testing.T) { history(t, rand.New(rand.NewPCG(seed, uint64(round)))) })
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
}

type model struct {
	server  map[string]string // name to "name/uid@rv"
	present string            // what the store should show
	version int
}

func (m *model) show() string {
	return fmt.Sprintf("%s at %d", strings.Join(slices.Sorted(maps.Values(m.server)), " "), m.version)
}

// change changes the server at random and returns the event.
func (m *model) change(rng *rand.Rand) string {
	m.version++
	name := string(rune('a' + rng.IntN(6)))
	old, exists := m.server[name]
	uid, _, _ := strings.Cut(strings.TrimPrefix(old, name+"/"), "@")
	switch {
	case exists && rng.IntN(3) == 0:
		delete(m.server, name)
		return fmt.Sprintf("-%s/%s@%d", name, uid, m.version)
	case exists:
		m.server[name] = fmt.Sprintf("%s/%s@%d", name, uid, m.version)
		return "~" + m.server[name]
	default:
		m.server[name] = fmt.Sprintf("%s/%d@%d", name, m.version, m.version)
		return "+" + m.server[name]
	}
}

func (m *model) list() string {
	words := []string{"["}
	for _, obj := range slices.Sorted(maps.Values(m.server)) {
		words = append(words, "="+obj)
	}
	return strings.Join(words, " ")
}

func history(t *testing.T, rng *rand.Rand) {
	r := newRig(t)
	m := &model{server: map[string]string{}, present: " at ", version: 10}
	var handlers []*recorder
	var subs []*Subscription
	add := func() {
		h := record(t)
		pace := time.Duration(rng.IntN(3)) * time.Millisecond
		if pace > 0 {
			h.before = func(string) { time.Sleep(pace) }
		}
		handlers = append(handlers, h)
		subs = append(subs, r.add(h, HandlerConfig{Threshold: []int{Never, 0, 1, 5}[rng.IntN(4)], Resync: time.Duration(rng.IntN(2)) * 20 * time.Millisecond}))
	}
	feed := func(words string) {
		for word := range strings.FieldsSeq(words) {
			r.reader.steps <- func(s *sink) error { return say(s, word) }
			if rng.IntN(4) == 0 {
				time.Sleep(time.Duration(rng.IntN(4)) * time.Millisecond)
			}
		}
	}
	add()
	for range rng.IntN(4) { // runs
		stop := r.start()
		for range rng.IntN(5) { // full states, each with changes that nobody saw before it
			for range rng.IntN(4) {
				m.change(rng)
			}
			if rng.IntN(4) == 0 {
				feed(m.list() + " !")
				continue
			}
			feed(fmt.Sprintf("%s ]@%d", m.list(), m.version))
			for range rng.IntN(60) {
				switch rng.IntN(12) {
				case 0:
					add()
				case 1:
					at := rng.IntN(len(subs))
					subs[at].Remove()
					if len(subs) > 1 {
						subs, handlers = slices.Delete(subs, at, at+1), slices.Delete(handlers, at, at+1)
					} else {
						subs, handlers = nil, nil
						add()
					}
				case 2:
					feed(fmt.Sprintf("|@%d", m.version))
				default:
					feed(m.change(rng))
				}
			}
			m.present = m.show()
		}
		if rng.IntN(2) == 0 {
			time.Sleep(50 * time.Millisecond) // the slow ones do, or don't, catch up
		}
		synctest.Wait()
		r.want(m.present)
		stop()
	}
	// At the end all get the time to catch up.
	defer r.start()()
	feed(fmt.Sprintf("%s ]@%d", m.list(), m.version))
	time.Sleep(time.Minute)
	synctest.Wait()
	r.want(m.show())
	for n, h := range handlers {
		h.agrees(r)
		if got := subs[n].Status(); got.Backlog != 0 || !got.Synced {
			t.Errorf("%+v", got)
		}
	}
}
