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

// newStateKey returns the key for all widgets of a cache, enough for several chunks.
func newStateKey(t *testing.T) (stateKey, *memory.Storage) {
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
	return stateKey{cache: cache, format: watchcache.JSON{}}, storage
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

// TestMembersShareAState runs in a bubble, because a state is reused only for a limited time.
func TestMembersShareAState(t *testing.T) { synctest.Test(t, testMembersShareAState) }

func testMembersShareAState(t *testing.T) {
	of, storage := newStateKey(t)
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
		t.Errorf("with one member, %d bytes of %d chunks are kept; want none of several", s.bytes.Load(), len(first.chunks))
	}
	second := joined()
	if second != first {
		t.Fatal("the second member got another state")
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
		t.Errorf("%d bytes are counted, want %d", s.bytes.Load(), total)
	}

	o, err := storage.Create(t.Context(), []byte(`{"metadata":{"name":"new"}}`))
	if err == nil {
		err = of.cache.WaitUntilFresh(t.Context(), o.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
	if third := joined(); third != first {
		t.Error("a slightly older state was not reused")
	} else {
		s.leave(third)
	}
	first.created = first.created.Add(-2 * joinWindow)
	fourth := joined()
	if fourth == first {
		t.Error("a state that is too old was reused")
	}
	s.leave(first)
	s.leave(second)
	if s.bytes.Load() != 0 || s.byKey[of] != fourth {
		t.Errorf("%d bytes are left, want none", s.bytes.Load())
	}
	s.leave(fourth)
	if len(s.byKey) != 0 {
		t.Error("a state without members is kept")
	}
}

// TestStateOlderThanTheLogIsNotReused shows that a state is not reused once the changes
// since then have left the log.
func TestStateOlderThanTheLogIsNotReused(t *testing.T) {
	of := stateKey{}
	var s states
	first := s.enterLocked(of, 5, 1)
	if s.enterLocked(of, 7, 5) != first {
		t.Error("a state within the log was not reused")
	}
	if s.enterLocked(of, 7, 6) == first {
		t.Error("a state older than the log was reused")
	}
}

// TestStateNewerThanTheCacheIsNotReused shows that a state newer than the cache is not reused: the
// storage has gone back.
func TestStateNewerThanTheCacheIsNotReused(t *testing.T) {
	of := stateKey{}
	var s states
	first := s.enterLocked(of, 7, 5)
	if s.enterLocked(of, 6, 5) == first || s.enterLocked(of, 6, 6) == first {
		t.Error("a state newer than the cache was reused")
	}
}

// TestStatesRespectByteLimit runs in a bubble, like TestMembersShareAState.
func TestStatesRespectByteLimit(t *testing.T) {
	synctest.Test(t, testStatesRespectByteLimit)
}

func testStatesRespectByteLimit(t *testing.T) {
	of, _ := newStateKey(t)
	var s states
	var members []*state
	for range 2 {
		st, err := s.join(of, watchcache.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, st)
	}
	most := int64(writeSize * 2)
	if encode(t, &s, members[0], most); s.bytes.Load() == 0 || s.bytes.Load() > most {
		t.Errorf("%d bytes are kept, want 1 to %d", s.bytes.Load(), most)
	}
	for _, st := range members {
		s.leave(st)
	}
}
