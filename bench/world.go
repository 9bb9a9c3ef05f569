// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// world is the content of a server. The same world is the same bytes each time.
type world struct {
	Pods, Certificates, Routes int

	Distinct bool // no string is equal to another one
	Protobuf bool // everything is served in protobuf, else in JSON
	// Changed is how many Pods are different, at random places, once the collection has moved on.
	Changed int
	// Events is how many MODIFIED events of Pods a watch sends as fast as they are read, each of a
	// Pod at random.
	Events int
}

// The streams of random numbers for what changes. Those of the data are others.
const (
	seedOfChanges = 10
	seedOfEvents  = 13
)

// objects is how many there are.
func (w world) objects() int { return w.Pods + w.Certificates + w.Routes }

// collections renders what there is.
func (w world) collections() (_ map[string]*served, err error) {
	all := map[string]*served{}
	defer func() {
		for _, s := range all {
			if err != nil {
				err = errors.Join(err, s.close())
			}
		}
	}()
	if w.Pods > 0 {
		plan := newPodPlan(w.Pods)
		s := &served{kind: pods, rendering: newRendering(pods, w.Protobuf)}
		all[pods.path()] = s
		// The same strings in each revision, but for what a restart changes.
		pod := func(i, revision, version int) apiruntime.Object {
			p := plan.pod(i, revision, version)
			if w.Distinct {
				makeDistinct(i, p)
			}
			return p
		}
		if err := s.add(w.Pods, func(i int) apiruntime.Object { return pod(i, 0, 0) }); err != nil {
			return nil, err
		}
		if err := s.change(w.Changed, w.Pods, func(i, version int) apiruntime.Object { return pod(i, 1, version) }); err != nil {
			return nil, err
		}
		revisions := make([]int, w.Pods)
		r := rand.New(rand.NewPCG(seedOfEvents, uint64(w.Events)))
		next := make([][2]int, w.Events)
		for k := range next {
			i := r.IntN(len(revisions))
			revisions[i]++
			next[k] = [2]int{i, revisions[i]}
		}
		if err := s.later.render(w.Events, func(k int) ([]byte, error) {
			return s.rendering.event(watch.Modified, pod(next[k][0], next[k][1], collectionVersion+1+k))
		}); err != nil {
			return nil, err
		}
	}
	for _, c := range []struct {
		kind kind
		n    int
		at   func(i, n int) apiruntime.Object
	}{
		{certificates, w.Certificates, func(i, n int) apiruntime.Object { return certificateOf(i, n) }},
		{routes, w.Routes, func(i, n int) apiruntime.Object { return routeOf(i, n) }},
	} {
		if c.n == 0 {
			continue
		}
		s := &served{kind: c.kind, rendering: newRendering(c.kind, w.Protobuf)}
		all[c.kind.path()] = s
		if err := s.add(c.n, func(i int) apiruntime.Object { return c.at(i, c.n) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// served is a collection as bytes in files. It has two states: the first, and that in which some
// objects have changed.
type served struct {
	kind      kind
	rendering rendering
	items     file
	added     file // events of the first state
	later     file // events that a watch sends

	changed      map[int]int // from an object's place to that in what follows
	changedItems file
	changedAdded file
}

func (s *served) add(n int, at func(i int) apiruntime.Object) error {
	return errors.Join(
		s.items.render(n, func(i int) ([]byte, error) { return s.rendering.item(at(i)) }),
		s.added.render(n, func(i int) ([]byte, error) { return s.rendering.event(watch.Added, at(i)) }),
	)
}

// change lets n of the objects have a second state.
func (s *served) change(n, of int, at func(i, version int) apiruntime.Object) error {
	s.changed = map[int]int{}
	places := make([]int, n)
	for k, i := range rand.New(rand.NewPCG(seedOfChanges, uint64(n))).Perm(of)[:n] {
		places[k], s.changed[i] = i, k
	}
	return errors.Join(
		s.changedItems.render(n, func(k int) ([]byte, error) { return s.rendering.item(at(places[k], collectionVersion+1+k)) }),
		s.changedAdded.render(n, func(k int) ([]byte, error) {
			return s.rendering.event(watch.Added, at(places[k], collectionVersion+1+k))
		}),
	)
}

// resourceVersion is that of the collection.
func (s *served) resourceVersion(moved bool) string {
	if moved {
		return strconv.Itoa(collectionVersion + len(s.changed))
	}
	return strconv.Itoa(collectionVersion)
}

// list is the answer to a list of the objects from the one to before the other.
func (s *served) list(from, to int, next string, moved bool) io.Reader {
	m := metav1.ListMeta{ResourceVersion: s.resourceVersion(moved), Continue: next}
	if next != "" {
		m.RemainingItemCount = new(int64(s.items.len() - to))
	}
	items, size := s.pieces(&s.items, &s.changedItems, from, to, moved)
	size = max(0, size-s.rendering.separator()) // none behind the last
	return io.MultiReader(bytes.NewReader(s.rendering.head(m, size)), io.LimitReader(items, size), bytes.NewReader(s.rendering.tail(m)))
}

// initial is what a watch-list sends.
func (s *served) initial(moved bool) (io.Reader, error) {
	end, err := s.rendering.bookmark(s.resourceVersion(moved))
	events, _ := s.pieces(&s.added, &s.changedAdded, 0, s.added.len(), moved)
	return io.MultiReader(events, bytes.NewReader(end)), err
}

// pieces are the objects from the one to before the other, in either state, and how many bytes they
// have.
func (s *served) pieces(first, second *file, from, to int, moved bool) (_ io.Reader, size int64) {
	var parts []io.Reader
	begin := from
	add := func(f *file, from, to int) {
		if from < to {
			parts = append(parts, f.between(from, to))
			size += f.size(from, to)
		}
	}
	if moved {
		for i := from; i < to; i++ {
			if k, ok := s.changed[i]; ok {
				add(first, begin, i)
				add(second, k, k+1)
				begin = i + 1
			}
		}
	}
	add(first, begin, to)
	return io.MultiReader(parts...), size
}

func (s *served) close() error {
	return errors.Join(s.items.close(), s.added.close(), s.later.close(), s.changedItems.close(), s.changedAdded.close())
}

// file is a file of things that stand one behind the other. The zero value has none.
type file struct {
	file *os.File
	// while it is open, where the system allows that: nothing is left if the program is killed
	removed bool
	ends    []int64 // where each thing ends
}

// render writes n things, which are made by several goroutines.
func (f *file) render(n int, thing func(i int) ([]byte, error)) (err error) {
	if n == 0 {
		return nil
	}
	if f.file, err = os.CreateTemp("", "informer-gen-bench-"); err != nil {
		return err
	}
	f.removed = os.Remove(f.file.Name()) == nil
	out := bufio.NewWriterSize(f.file, 1<<20) // remembers its first error for Flush
	end := int64(0)
	const atOnce = 1000
	things, errs := make([][]byte, atOnce), make([]error, atOnce)
	for from := 0; from < n; from += atOnce {
		to := min(n, from+atOnce)
		var wg sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			wg.Go(func() {
				for i := from + w; i < to; i += workers {
					things[i-from], errs[i-from] = thing(i)
				}
			})
		}
		wg.Wait()
		for i := range to - from {
			if errs[i] != nil {
				return fmt.Errorf("rendering object %d: %w", from+i, errs[i])
			}
			_, _ = out.Write(things[i])
			end += int64(len(things[i]))
			f.ends = append(f.ends, end)
		}
	}
	return out.Flush()
}

func (f *file) len() int { return len(f.ends) }

func (f *file) begin(i int) int64 {
	if i == 0 {
		return 0
	}
	return f.ends[i-1]
}

func (f *file) size(from, to int) int64 { return f.begin(to) - f.begin(from) }

// between returns the things from the one to before the other.
func (f *file) between(from, to int) io.Reader {
	return io.NewSectionReader(f.file, f.begin(from), f.size(from, to))
}

func (f *file) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	if !f.removed {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return err
}
