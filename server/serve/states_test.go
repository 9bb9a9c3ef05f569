// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// newSelection returns all widgets of a cache, of which there are so many that a state has several
// chunks.
func newSelection(t *testing.T) (selection, *memory.Storage) {
	storage := memory.New()
	for i := range 1000 {
		if _, err := storage.Create(t.Context(), fmt.Appendf(nil, `{"metadata":{"name":"w%d"},"data":"%100d"}`, i, i)); err != nil {
			t.Fatal(err)
		}
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cache.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	if err := cache.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return selection{cache: cache, format: watchcache.JSON{}}, storage
}

// encode encodes all chunks of a state.
func encode(t *testing.T, s *states, st *state, most int64) (all [][]byte) {
	t.Helper()
	for i := range st.chunks {
		data, err := st.chunks[i].bytes(s, st, most)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// TestMembersShareAState is in a bubble, where no time passes: a state is handed out for a while.
func TestMembersShareAState(t *testing.T) { synctest.Test(t, testMembersShareAState) }

func testMembersShareAState(t *testing.T) {
	of, storage := newSelection(t)
	var s states
	joined := func() *state {
		t.Helper()
		st, err := s.join(of, watchcache.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	first := joined()
	if encode(t, &s, first, 1<<20); s.bytes.Load() != 0 || len(first.chunks) < 2 {
		t.Errorf("one watch alone keeps %d bytes of %d chunks", s.bytes.Load(), len(first.chunks))
	}
	second := joined()
	if second != first {
		t.Fatal("the second one got another state")
	}
	kept, again := encode(t, &s, first, 1<<20), encode(t, &s, second, 1<<20)
	total := int64(0)
	for i := range kept {
		if &kept[i][0] != &again[i][0] {
			t.Error("a chunk was encoded twice")
		}
		total += int64(cap(kept[i]))
	}
	if s.bytes.Load() != total {
		t.Errorf("%d bytes are counted, %d are kept", s.bytes.Load(), total)
	}

	o, err := storage.Create(t.Context(), []byte(`{"metadata":{"name":"new"}}`))
	if err == nil {
		err = of.cache.WaitUntilFresh(t.Context(), o.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
	if third := joined(); third != first {
		t.Error("a state that is a little older is not handed out")
	} else {
		s.leave(third)
	}
	first.made = first.made.Add(-2 * joinTime)
	fourth := joined()
	if fourth == first {
		t.Error("a state that is too old is handed out")
	}
	s.leave(first)
	s.leave(second)
	if s.bytes.Load() != 0 || s.all[of] != fourth {
		t.Errorf("%d bytes are left", s.bytes.Load())
	}
	s.leave(fourth)
	if len(s.all) != 0 {
		t.Error("a state without members is kept")
	}
}

// TestStateThatTheLogDoesNotReachIsNotHandedOut: the changes since then are not known any more.
func TestStateThatTheLogDoesNotReachIsNotHandedOut(t *testing.T) {
	of := selection{}
	var s states
	first := s.memberLocked(of, 5, 1)
	if s.memberLocked(of, 7, 5) != first {
		t.Error("a state is not handed out")
	}
	if s.memberLocked(of, 7, 6) == first {
		t.Error("it is handed out again")
	}
}

// TestStateOfAnotherHistoryIsNotHandedOut: a storage that was put back to an older version never
// makes the changes since then.
func TestStateOfAnotherHistoryIsNotHandedOut(t *testing.T) {
	of := selection{}
	var s states
	first := s.memberLocked(of, 7, 5)
	if s.memberLocked(of, 6, 5) == first || s.memberLocked(of, 6, 6) == first {
		t.Error("a state is handed out that is newer than the cache")
	}
}

// TestStatesKeepWithinTheirBytes is in a bubble as well.
func TestStatesKeepWithinTheirBytes(t *testing.T) {
	synctest.Test(t, testStatesKeepWithinTheirBytes)
}

func testStatesKeepWithinTheirBytes(t *testing.T) {
	of, _ := newSelection(t)
	var s states
	var members []*state
	for range 2 {
		st, err := s.join(of, watchcache.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, st)
	}
	most := int64(sentAtOnce * 2)
	if encode(t, &s, members[0], most); s.bytes.Load() == 0 || s.bytes.Load() > most {
		t.Errorf("%d bytes are kept, %d at most", s.bytes.Load(), most)
	}
	for _, st := range members {
		s.leave(st)
	}
}
