// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/bench/data"
)

func (s *served) serveList(w http.ResponseWriter, query url.Values, paged, moved bool) {
	n := s.items.len()
	from, err := strconv.Atoi("0" + query.Get("continue"))
	if err != nil || from > n {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "wrong continue token")
		return
	}
	limit, err := strconv.Atoi("0" + query.Get("limit"))
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "wrong limit")
		return
	}
	to, next := n, ""
	if limit > 0 && (paged || query.Get("resourceVersion") != "0") {
		to = min(n, from+limit)
	}
	if to < n {
		next = strconv.Itoa(to)
	}
	w.Header().Set("Content-Type", s.rendering.contentType(false))
	send(w, s.list(from, to, next, moved))
}

func (s *served) serveWatch(ctx context.Context, w http.ResponseWriter, query url.Values, moved bool, moving <-chan struct{}) {
	initial, err := s.initial(moved)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	switch {
	case query.Get("sendInitialEvents") == "true":
		if query.Get("allowWatchBookmarks") != "true" || query.Get("resourceVersionMatch") != string(metav1.ResourceVersionMatchNotOlderThan) {
			refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "a watch-list needs bookmarks and NotOlderThan")
			return
		}
	case query.Get("resourceVersion") == s.resourceVersion(moved):
		initial = strings.NewReader("")
	default:
		answer(w, http.StatusGone, expired())
		return
	}
	w.Header().Set("Content-Type", s.rendering.contentType(true))
	w.WriteHeader(http.StatusOK)
	if !send(w, initial) {
		return
	}
	if moved && s.watchEvents.len() == 0 {
		moving = nil // it has
	}
	select {
	case <-ctx.Done():
		return
	case <-moving:
	}
	if s.watchEvents.len() > 0 {
		send(w, s.watchEvents.between(0, s.watchEvents.len()))
		<-ctx.Done()
	} else if end, err := s.rendering.event(watch.Error, expired()); err == nil {
		send(w, bytes.NewReader(end))
	}
}

// served is a collection as bytes in files. It has two states: in the second, some objects have
// changed.
type served struct {
	kind        data.Kind
	rendering   rendering
	items       file
	added       file // events of the first state
	watchEvents file // events to send in a watch

	changed      map[int]int // from an object's index to its index in the files below
	changedItems file
	changedAdded file
}

func (s *served) add(n int, at func(i int) apiruntime.Object) error {
	return errors.Join(
		s.items.render(n, func(i int) ([]byte, error) { return s.rendering.item(at(i)) }),
		s.added.render(n, func(i int) ([]byte, error) { return s.rendering.event(watch.Added, at(i)) }),
	)
}

func (s *served) change(n, of int, at func(i, version int) apiruntime.Object) error {
	s.changed = map[int]int{}
	indexes := make([]int, n)
	for k, i := range rand.New(rand.NewPCG(seedOfChanges, uint64(n))).Perm(of)[:n] {
		indexes[k], s.changed[i] = i, k
	}
	return errors.Join(
		s.changedItems.render(n, func(k int) ([]byte, error) { return s.rendering.item(at(indexes[k], data.CollectionVersion+1+k)) }),
		s.changedAdded.render(n, func(k int) ([]byte, error) {
			return s.rendering.event(watch.Added, at(indexes[k], data.CollectionVersion+1+k))
		}),
	)
}

func (s *served) resourceVersion(moved bool) string {
	if moved {
		return strconv.Itoa(data.CollectionVersion + len(s.changed))
	}
	return strconv.Itoa(data.CollectionVersion)
}

func (s *served) list(from, to int, next string, moved bool) io.Reader {
	m := metav1.ListMeta{ResourceVersion: s.resourceVersion(moved), Continue: next}
	if next != "" {
		m.RemainingItemCount = new(int64(s.items.len() - to))
	}
	items, size := s.pieces(&s.items, &s.changedItems, from, to, moved)
	size = max(0, size-s.rendering.separator()) // none behind the last
	return io.MultiReader(bytes.NewReader(s.rendering.head(m, size)), io.LimitReader(items, size), bytes.NewReader(s.rendering.tail(m)))
}

func (s *served) initial(moved bool) (io.Reader, error) {
	end, err := s.rendering.bookmark(s.resourceVersion(moved))
	events, _ := s.pieces(&s.added, &s.changedAdded, 0, s.added.len(), moved)
	return io.MultiReader(events, bytes.NewReader(end)), err
}

// pieces returns the objects with indexes in [from, to), in either state, and their size in bytes.
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
	return errors.Join(s.items.close(), s.added.close(), s.watchEvents.close(), s.changedItems.close(), s.changedAdded.close())
}
