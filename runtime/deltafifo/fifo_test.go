// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestPopBatchKeepsTheStream(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{})
	feed(t, f, "[ =a@1 -a@2 ]@5 +b@6 ~b@7 -b@8 -b@8 *c@1 |@9 [ !")
	want := "ReplaceStarted, Replaced a@1, Deleted a@2, ReplaceEnded@5, Added b@6, Modified b@7, Deleted b@8, Deleted b@8, Sync c@1, Bookmark@9, ReplaceStarted, ReplaceAborted"
	if f.HasSynced() {
		t.Error("synced before anything was taken")
	}
	if got := f.Len(); got != 12 {
		t.Errorf("Len is %d before", got)
	}
	got, err := f.PopBatch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, showAll(got)); diff != "" {
		t.Error(diff)
	}
	if !f.HasSynced() || f.Len() != 0 {
		t.Errorf("after: synced %v, Len %d", f.HasSynced(), f.Len())
	}
	feed(t, f, "+d@10")
	if got, err = f.PopBatch(t.Context(), got[:1]); err != nil || showAll(got) != "ReplaceStarted, Added d@10" {
		t.Errorf("appending: %s, %v", showAll(got), err)
	}
}

func TestPopTakesAKeyWithAllItsDeltas(t *testing.T) {
	for _, test := range []struct {
		name, script, known string
		want                []string
	}{
		{"a key has all its deltas, keys in the order of their oldest", "+a@1 +b@2 ~a@3 -b@4 +c@5 ~a@6", "",
			[]string{"Added a@1, Modified a@3, Modified a@6", "Added b@2, Deleted b@4", "Added c@5"}},
		{"two deletions in a row are one", "-a@1 -a@2 +a@3 -a@4", "",
			[]string{"Deleted a@1, Added a@3, Deleted a@4"}},
		{"a full state appears when it is complete", "+a@1 [ =b@2", "",
			[]string{"Added a@1"}},
		{"marks are left out", "[ =a@1 =b@2 ]@3 |@4", "",
			[]string{"Replaced a@1", "Replaced b@2"}},
		{"an aborted full state never was", "[ =a@1 =b@2 ! +c@3", "",
			[]string{"Added c@3"}},
		{"a full state that is begun again", "[ =a@1 [ =b@2 ]@3", "",
			[]string{"Replaced b@2"}},
		{"known objects vanish, before the rest", "[ =b@5 ]@6", "a@1 b@2 c@3",
			[]string{"Deleted? a@1", "Deleted? c@3", "Replaced b@5"}},
		{"waiting objects vanish", "+a@1 ~a@2 [ =b@3 ]@4", "",
			[]string{"Added a@1, Modified a@2, Deleted? a@2", "Replaced b@3"}},
		{"a known object that waits vanishes as it is now", "~a@2 [ ]@4", "a@1",
			[]string{"Modified a@2, Deleted? a@2"}},
		{"what is deleted does not vanish", "-a@2 [ ]@4", "a@1",
			[]string{"Deleted a@2"}},
		{"the deletion that knows the final state stays", "[ ]@4 -a@5", "a@1",
			[]string{"Deleted a@5"}},
		{"deleted within a full state", "[ =a@1 =b@1 -a@2 ]@3", "a@0",
			[]string{"Replaced a@1, Deleted a@2", "Replaced b@1"}},
		{"a sync gives way to what waits", "+a@1 *a@1 *b@1 *b@1", "",
			[]string{"Added a@1", "Sync b@1"}},
		{"a sync within a full state is not part of it", "[ *a@1 ! *b@1", "",
			[]string{"Sync a@1", "Sync b@1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var options deltafifo.Options[obj]
			if test.known != "" {
				options.Known = func() iter.Seq[obj] {
					return func(yield func(obj) bool) {
						for word := range strings.FieldsSeq(test.known) {
							name, rv, _ := strings.Cut(word, "@")
							if !yield(thing(name, rv)) {
								return
							}
						}
					}
				}
			}
			f := deltafifo.New(options)
			feed(t, f, test.script)
			if diff := cmp.Diff(test.want, popAll(t, f)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPopSyncedWhenProcessed(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{})
	feed(t, f, "+x@0 [ =a@1 =b@1 ]@2 [ =c@3 ]@4")
	for n, want := range []bool{false, false, true, true} { // x, a, b, c
		err := f.Pop(t.Context(), func(object.Key, deltas) error {
			if f.HasSynced() != (n == 3) {
				t.Errorf("synced is %v within Pop %d", f.HasSynced(), n)
			}
			return nil
		})
		if err != nil || f.HasSynced() != want {
			t.Errorf("after Pop %d: synced %v, %v", n, f.HasSynced(), err)
		}
	}
	empty := deltafifo.New(deltafifo.Options[obj]{})
	feed(t, empty, "[ ]@1")
	if lines := popAll(t, empty); len(lines) != 0 || !empty.HasSynced() {
		t.Errorf("an empty full state: %v, synced %v", lines, empty.HasSynced())
	}
}

func TestPopReturnsWhatProcessReturns(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{})
	feed(t, f, "+a@1 +b@2")
	wrong := errors.New("wrong")
	if err := f.Pop(t.Context(), func(object.Key, deltas) error { return wrong }); err != wrong {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"Added b@2"}, popAll(t, f)); diff != "" {
		t.Errorf("the deltas of a failed Pop should be gone: %s", diff)
	}
}

func TestPopsDoNotOverlap(t *testing.T) {
	// synctest.Wait returns when no goroutine in the bubble can run, so the second Pop could have
	// called process by then.
	synctest.Test(t, func(t *testing.T) {
		f := deltafifo.New(deltafifo.Options[obj]{})
		feed(t, f, "+a@1 +b@2")
		let := make(chan struct{})
		var calls []string
		pop := func() {
			if err := f.Pop(t.Context(), func(key object.Key, _ deltas) error {
				calls = append(calls, key.Name)
				<-let
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
		go pop()
		synctest.Wait()
		go pop()
		synctest.Wait()
		if diff := cmp.Diff([]string{"a"}, calls); diff != "" {
			t.Error(diff)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.Pop(ctx, func(object.Key, deltas) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for the other Pop: %v", err)
		}
		close(let)
		synctest.Wait()
		if diff := cmp.Diff([]string{"a", "b"}, calls); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFullQueueBlocksTheProducer(t *testing.T) {
	for _, kind := range []string{"PopBatch", "Pop"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := deltafifo.New(deltafifo.Options[obj]{Capacity: 3})
				added := 0
				go func() {
					for n := range 10 {
						if err := f.Add(thing(fmt.Sprint(n), "1")); err != nil {
							t.Error(err)
						}
						added++
					}
				}()
				synctest.Wait()
				if added != 3 || f.Len() != 3 {
					t.Fatalf("%d added, %d wait; want 3", added, f.Len())
				}
				taken := 0
				for taken < 10 {
					if kind == "Pop" {
						if err := f.Pop(t.Context(), func(object.Key, deltas) error { taken++; return nil }); err != nil {
							t.Fatal(err)
						}
					} else {
						batch, err := f.PopBatch(t.Context(), nil)
						if err != nil {
							t.Fatal(err)
						}
						taken += len(batch)
					}
					synctest.Wait()
					if want := min(10, taken+3); added != want {
						t.Fatalf("%d taken, %d added; want %d", taken, added, want)
					}
				}
			})
		})
	}
}

func TestPopTakesAFullStateBeyondCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := deltafifo.New(deltafifo.Options[obj]{Capacity: 2})
		go func() {
			for _, step := range []func() error{
				f.BeginReplace,
				func() error { return f.Replace(thing("a", "1")) },
				func() error { return f.Replace(thing("b", "1")) },
				func() error { return f.Replace(thing("c", "1")) },
				func() error { return f.EndReplace("2") },
			} {
				if err := step(); err != nil {
					t.Error(err)
				}
			}
		}()
		for _, want := range []string{"a", "b", "c"} {
			if err := f.Pop(t.Context(), func(key object.Key, _ deltas) error {
				if key.Name != want {
					t.Errorf("got %v, want %s", key, want)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestCloseAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := deltafifo.New(deltafifo.Options[obj]{Capacity: 1})
		feed(t, f, "+a@1")
		var addErr, popErr, cancelErr error
		go func() { addErr = f.Add(thing("b", "2")) }()
		synctest.Wait()
		f.Close()
		f.Close()
		synctest.Wait()
		if addErr != deltafifo.ErrClosed || f.Bookmark("3") != deltafifo.ErrClosed {
			t.Errorf("adding to a closed queue: %v", addErr)
		}
		batch, err := f.PopBatch(t.Context(), nil)
		if err != nil || len(batch) != 1 {
			t.Errorf("what is left: %v, %v", batch, err)
		}
		if _, err = f.PopBatch(t.Context(), nil); err != deltafifo.ErrClosed {
			t.Errorf("closed and empty: %v", err)
		}

		f = deltafifo.New(deltafifo.Options[obj]{})
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { _, cancelErr = f.PopBatch(ctx, nil) }()
		go func() { _, popErr = f.PopBatch(t.Context(), nil) }()
		synctest.Wait()
		cancel(why)
		synctest.Wait()
		if cancelErr != why || popErr != nil {
			t.Errorf("cancelled: %v; the other: %v", cancelErr, popErr)
		}
		f.Close()
		synctest.Wait()
		if popErr != deltafifo.ErrClosed {
			t.Errorf("closed while waiting: %v", popErr)
		}
	})
}

func TestPopAndPopBatchDoNotMix(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{})
	feed(t, f, "+a@1")
	if _, err := f.PopBatch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Pop(t.Context(), func(object.Key, deltas) error { return nil }); err != deltafifo.ErrMixed {
		t.Errorf("got %v", err)
	}
}

func TestNilArguments(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{})
	feed(t, f, "+a@1")
	var none context.Context
	if err := f.Pop(none, func(object.Key, deltas) error { return nil }); err == nil {
		t.Error("Pop takes a nil context")
	}
	if err := f.Pop(t.Context(), nil); err == nil {
		t.Error("Pop takes a nil function")
	}
	if _, err := f.PopBatch(none, nil); err == nil {
		t.Error("PopBatch takes a nil context")
	}
	if n := f.Len(); n != 1 {
		t.Errorf("%d deltas wait, want 1", n)
	}
}
