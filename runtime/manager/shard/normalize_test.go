// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"maps"
	"testing"
)

// TestNormalize shows that worlds which normalize makes equal have the same future, for six steps.
// The others of TestExhaustive take too long without it.
func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, m := range []mutant{none, deathUnconditional, grantBeforeRelease, noWaitAfterEviction, releaseByAbsence, wallClock} {
		o := model{mutant: m, maxEpoch: 2, decisions: map[worldView][]decision{}}
		whole, short := map[world]bool{newWorld(): true}, map[world]bool{newWorld(): true}
		for steps := range 6 {
			wholeWrong, shortWrong := false, false
			whole, wholeWrong = o.follow(whole, (*world).look)
			short, shortWrong = o.follow(short, func(w *world) { w.normalize(m) })
			if wholeWrong != shortWrong {
				t.Fatalf("%q: wrong after %d steps: %t, normalized: %t", m, steps+1, wholeWrong, shortWrong)
			}
			same := map[world]bool{}
			for w := range whole {
				w.normalize(m)
				same[w] = true
			}
			if !maps.Equal(same, short) {
				t.Fatalf("%q: %d worlds after %d steps, %d of normalized ones", m, len(same), steps+1, len(short))
			}
		}
	}
}

// follow returns all worlds that are one step after others.
func (o *model) follow(worlds map[world]bool, change func(*world)) (next map[world]bool, wrong bool) {
	next = map[world]bool{}
	for at := range worlds {
		o.each(&at, func(_ stepName, w *world) {
			if w.check() != "" {
				wrong = true
				return
			}
			change(w)
			next[*w] = true
		})
	}
	return next, wrong
}
