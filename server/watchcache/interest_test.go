// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// countingSelector is a label selector that counts calls of Matches.
type countingSelector struct {
	labels.Selector
	calls int
}

func (a *countingSelector) Matches(l labels.Labels) bool {
	a.calls++
	return a.Selector.Matches(l)
}

// TestChangeWakesMatchingWatchers shows that a change is matched only against filters that require
// a value the object has, or had.
func TestChangeWakesMatchingWatchers(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		var all []*countingSelector
		add := func(namespace, label, field string) {
			f := newFilter(namespace, label, field)
			a := &countingSelector{Selector: f.Labels}
			f.Labels = a
			all = append(all, a)
			r.watch(watchcache.WatchOptions{Filter: f, Receive: func([]watchcache.Event, error) bool { return true }})
		}
		const values = 50
		for i := range values {
			add("", "app", fmt.Sprintf("spec.node=n%d", i))
			add("", fmt.Sprintf("app=x%d", i), "")
			add("", fmt.Sprintf("app in (x%d)", i), "spec.node!=n9")
			add(fmt.Sprintf("ns%d", i), "app", "")
			add("", "app", fmt.Sprintf("metadata.name=o%d", i))
		}
		synctest.Wait()
		for _, step := range []struct {
			change func()
			hit    []string // "values of attribute"
		}{
			{func() { r.create("ns7/o8", "app=x3", "node=n2") }, []string{"node 2", "app 3", "in 3", "namespace 7", "name 8"}},
			{func() { r.update("ns7/o8", "app=x3", "node=n4") }, []string{"node 2", "app 3", "in 3", "namespace 7", "name 8", "node 4"}},
			{func() { r.update("ns7/o8", "app=x5", "node=n4") }, []string{"app 3", "in 3", "node 4", "app 5", "in 5", "namespace 7", "name 8"}},
			{func() { r.remove("ns7/o8") }, []string{"node 4", "app 5", "in 5", "namespace 7", "name 8"}},
		} {
			for _, a := range all {
				a.calls = 0
			}
			step.change()
			synctest.Wait()
			var hit []string
			for i, a := range all {
				if a.calls > 0 {
					hit = append(hit, fmt.Sprintf("%s %d", [...]string{"node", "app", "in", "namespace", "name"}[i%5], i/5))
				}
			}
			slices.Sort(hit)
			slices.Sort(step.hit)
			if !slices.Equal(hit, step.hit) {
				t.Errorf("the change was matched against %q, want %q", hit, step.hit)
			}
		}
	})
}
