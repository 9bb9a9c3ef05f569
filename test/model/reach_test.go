// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// reached counts the difficult situations reached by histories: without them, histories test
// little.
var reached sync.Map // string to *atomic.Int64

func reach(what string) {
	n, ok := reached.Load(what)
	if !ok {
		n, _ = reached.LoadOrStore(what, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

const (
	exactly       = "handler that got exactly the model's events"
	merged        = "handler that got fewer events, because they were merged"
	panicked      = "callback that panicked"
	untransformed = "transform that failed"
	resynced      = "resync"
	several       = "informer of several namespaces"
	compacted     = "watch from a version that was compacted"
)

// wanted are the situations that histories must reach, besides all steps.
var wanted = []string{
	exactly, merged, panicked, resynced, compacted, several, untransformed,
	"initial add of ours", "add of ours", "update of ours", "delete of ours", "unseen delete of ours",
	"initial add of theirs", "add of theirs", "update of theirs", "delete of theirs", "unseen delete of theirs",
}

// reachedAll complains about situations that no history has reached.
func reachedAll(t *testing.T) {
	t.Helper()
	counts := map[string]int64{}
	for what, n := range reached.Range {
		counts[what.(string)] = n.(*atomic.Int64).Load()
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%9d %s", counts[what], what)
	}
	all := slices.Clone(wanted)
	for _, o := range ops {
		all = append(all, o.name)
	}
	for _, what := range all {
		if counts[what] == 0 {
			t.Errorf("no history reached: %s", what)
		}
	}
}
