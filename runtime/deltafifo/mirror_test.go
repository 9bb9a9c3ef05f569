// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// The tests of this file have the scenarios of client-go's tests of its queues. A replace that is
// one call there is a bracket here: "[ =a@1 ]@9".

func knowing(text string) deltafifo.Options[obj] {
	return deltafifo.Options[obj]{Known: func() iter.Seq[obj] {
		return func(yield func(obj) bool) {
			for word := range strings.FieldsSeq(text) {
				name, rv, _ := strings.Cut(word, "@")
				if !yield(thing(name, rv)) {
					return
				}
			}
		}
	}}
}

// TestMirrorBasic has two producers at once; each sees its own order kept.
func TestMirrorBasic(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{Capacity: 100})
	const amount = 500
	var group sync.WaitGroup
	for _, prefix := range []string{"a", "b"} {
		group.Go(func() {
			for i := range amount {
				if err := f.Add(thing(prefix+strconv.Itoa(i), strconv.Itoa(i+1))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	last := map[byte]int{}
	for range 2 * amount {
		if err := f.Pop(t.Context(), func(key object.Key, d deltas) error {
			version, err := strconv.Atoi(d[0].ResourceVersion)
			if err != nil || len(d) != 1 || version <= last[key.Name[0]] {
				t.Errorf("%s after version %d: %v", showAll(d), last[key.Name[0]], err)
			}
			last[key.Name[0]] = version
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
}

func TestMirrorScenarios(t *testing.T) {
	for _, test := range []struct {
		name, known, script string
		want                []string
	}{
		{"replaceWithDeleteDeltaIn", "foo@1", "-foo@1 [ =foo@2 ]@3", []string{"Deleted foo@1, Replaced foo@2"}},

		{"ReplaceMakesDeletionsForObjectsOnlyInQueue: added", "", "+foo@2 [ ]@9", []string{"Added foo@2, Deleted? foo@2"}},
		{"ReplaceMakesDeletionsForObjectsOnlyInQueue: replaced", "", "+foo@2 [ =foo@2 ]@8 [ ]@9", []string{"Added foo@2, Replaced foo@2, Deleted? foo@2"}},
		{"ReplaceMakesDeletionsForObjectsOnlyInQueue: deleted", "", "+foo@2 -foo@2 [ ]@9", []string{"Added foo@2, Deleted foo@2"}},
		{"ReplaceMakesDeletionsForObjectsOnlyInQueue: replaced twice", "", "+foo@2 [ =foo@2 ]@7 [ =foo@2 ]@8 [ ]@9",
			[]string{"Added foo@2, Replaced foo@2, Replaced foo@2, Deleted? foo@2"}},
		{"ReplaceMakesDeletionsForObjectsOnlyInQueue: two replaces", "", "+foo@2 [ ]@8 [ ]@9", []string{"Added foo@2, Deleted? foo@2"}},
		{"ReplaceMakesDeletionsForObjectsOnlyInQueue: added again", "", "+foo@2 -foo@2 +foo@3 [ ]@9",
			[]string{"Added foo@2, Deleted foo@2, Added foo@3, Deleted? foo@3"}},
		{"ReplaceMakesDeletionsForObjectsOnlyInQueue: bookmark", "", "|@123 [ ]@8 [ ]@9", nil},

		{"addUpdate", "", "+foo@10 ~foo@12 -foo@15", []string{"Added foo@10, Modified foo@12, Deleted foo@15"}},
		{"enqueueing", "", "+foo@10 ~bar@15 +qux@17 -qux@18 -baz@20",
			[]string{"Added foo@10", "Modified bar@15", "Added qux@17, Deleted qux@18", "Deleted baz@20"}},
		{"addReplace", "", "+foo@10 [ =foo@15 ]@16", []string{"Added foo@10, Replaced foo@15"}},
		{"ResyncNonExisting", "", "-foo@10 *foo@5", []string{"Deleted foo@10"}},
		{"Resync", "", "*foo@5", []string{"Sync foo@5"}},
		{"DeleteExistingNonPropagated", "", "+foo@5 -foo@6", []string{"Added foo@5, Deleted foo@6"}},
		{"UpdateResyncRace", "", "~foo@6 *foo@5", []string{"Modified foo@6"}},

		{"ReplaceMakesDeletions: a deletion waits", "foo@5 bar@6 baz@7", "-baz@10 [ =foo@5 ]@9",
			[]string{"Deleted baz@10", "Deleted? bar@6", "Replaced foo@5"}},
		{"ReplaceMakesDeletions: an addition waits", "foo@5 bar@6 baz@7", "+baz@10 [ =foo@5 ]@9",
			[]string{"Added baz@10, Deleted? baz@10", "Deleted? bar@6", "Replaced foo@5"}},
		{"ReplaceMakesDeletions: deleted and made again", "foo@5 bar@6 baz@7", "-bar@6 +bar@100 [ =foo@5 ]@9",
			[]string{"Deleted bar@6, Added bar@100, Deleted? bar@100", "Deleted? baz@7", "Replaced foo@5"}},
		{"ReplaceMakesDeletions: replaced before", "foo@5 bar@6 baz@7", "[ =bar@100 =foo@5 ]@8 [ =foo@5 ]@9",
			[]string{"Deleted? baz@7", "Replaced bar@100, Deleted? bar@100", "Replaced foo@5, Replaced foo@5"}},
		{"ReplaceMakesDeletions: nothing known", "", "+baz@10 [ =foo@5 ]@9", []string{"Added baz@10, Deleted? baz@10", "Replaced foo@5"}},
		{"ReplaceMakesDeletionsReplaced", "foo@5 bar@6 baz@7", "-baz@10 [ =foo@6 ]@9",
			[]string{"Deleted baz@10", "Deleted? bar@6", "Replaced foo@6"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := deltafifo.New(knowing(test.known))
			feed(t, f, test.script)
			if diff := cmp.Diff(test.want, popAll(t, f)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func popOne(t *testing.T, f *fifo) (text string) {
	t.Helper()
	if err := f.Pop(t.Context(), func(_ object.Key, d deltas) error { text = showAll(d); return nil }); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestMirrorHasSyncedCorrectOnDeletion shows that deletions of a full state are part of it.
func TestMirrorHasSyncedCorrectOnDeletion(t *testing.T) {
	f := deltafifo.New(knowing("foo@5 bar@6 baz@7"))
	feed(t, f, "[ =foo@5 ]@9")
	for _, want := range []string{"Deleted? bar@6", "Deleted? baz@7", "Replaced foo@5"} {
		if f.HasSynced() {
			t.Errorf("synced before %s", want)
		}
		if got := popOne(t, f); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if !f.HasSynced() {
		t.Error("not synced after all")
	}
}

// TestMirrorDetectLineJumpers shows that a key that was handed over goes to the end of the queue.
func TestMirrorDetectLineJumpers(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{})
	feed(t, f, "+foo@10 +bar@1 +foo@11 +foo@13 +zab@30")
	var got []string
	got = append(got, popOne(t, f))
	feed(t, f, "+foo@14")
	for range 3 {
		got = append(got, popOne(t, f))
	}
	want := []string{"Added foo@10, Added foo@11, Added foo@13", "Added bar@1", "Added zab@30", "Added foo@14"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMirrorHasSynced(t *testing.T) {
	for _, test := range []struct {
		script string
		pops   int
		want   bool
	}{
		{"", 0, false},
		{"+a@1", 1, false}, // deviation: only a full state makes it synced
		{"[ ]@1", 0, true},
		{"[ =a@1 =b@2 ]@3", 0, false},
		{"[ =a@1 =b@2 ]@3", 1, false},
		{"[ =a@1 =b@2 ]@3", 2, true},
		{"[ =a@1 =a@2 ]@3", 1, true}, // one key, one Pop
	} {
		t.Run(fmt.Sprintf("%s %d", test.script, test.pops), func(t *testing.T) {
			f := deltafifo.New(deltafifo.Options[obj]{})
			feed(t, f, test.script)
			for range test.pops {
				popOne(t, f)
			}
			if test.script == "[ ]@1" {
				f.Close() // a full state of nothing has nothing to pop; a Pop finds that out
				if err := f.Pop(t.Context(), func(object.Key, deltas) error { return nil }); err != deltafifo.ErrClosed {
					t.Error(err)
				}
			}
			if got := f.HasSynced(); got != test.want {
				t.Errorf("synced %v, want %v", got, test.want)
			}
		})
	}
}

func TestMirrorPopShouldUnblockWhenClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := deltafifo.New(knowing("foo@5"))
		const jobs = 10
		ended := make(chan error, jobs)
		for range jobs {
			go func() { ended <- f.Pop(t.Context(), func(object.Key, deltas) error { return nil }) }()
		}
		synctest.Wait()
		f.Close()
		for range jobs {
			if err := <-ended; err != deltafifo.ErrClosed {
				t.Errorf("Pop returned %v", err)
			}
		}
	})
}

// TestMirrorPopMultipleDeltaInBatch shows that a batch is a prefix of the stream, whatever its
// deltas are.
func TestMirrorPopMultipleDeltaInBatch(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"[ =a@5 =b@5 =c@5 ]@6", "ReplaceStarted, Replaced a@5, Replaced b@5, Replaced c@5, ReplaceEnded@6"},
		{"[ =a@5 =b@5 ]@6 ~c@7 ~d@8", "ReplaceStarted, Replaced a@5, Replaced b@5, ReplaceEnded@6, Modified c@7, Modified d@8"},
		{"~a@5 ~a@6 ~a@7", "Modified a@5, Modified a@6, Modified a@7"},
		{"~a@5 *b@5 [ =a@6 ]@7 |@8", "Modified a@5, Sync b@5, ReplaceStarted, Replaced a@6, ReplaceEnded@7, Bookmark@8"},
	} {
		f := deltafifo.New(deltafifo.Options[obj]{})
		feed(t, f, test.script)
		got, err := f.PopBatch(t.Context(), nil)
		if diff := cmp.Diff(test.want, showAll(got)); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		if f.Len() != 0 {
			t.Errorf("%d are left", f.Len())
		}
	}
}
