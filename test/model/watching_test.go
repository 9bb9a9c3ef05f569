// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// errLateBookmark is not an error: the bookmark that ends initial events comes after more events
// than needed.
var errLateBookmark = errors.New("late bookmark")

// lateness is how late.
const lateness = 5 * time.Second

// bookmarkEvery is how often an idle stream tells its version, as API servers do.
const bookmarkEvery = time.Minute

// watching is the server's side of one open watch.
type watching struct {
	*client
	*stream
	event   func(source.Event[*corev1.ConfigMap]) error
	fault   fault
	initing bool // the bookmark that ends the initial events is still to come
	version int  // up to which all is told
	told    int  // by the last event or bookmark
	events  int
	last    *source.Event[*corev1.ConfigMap]
}

func (w *watching) initial(state []*corev1.ConfigMap) error {
	w.initing = true
	w.model.begin()
	for _, obj := range state {
		if err := w.send(source.Event[*corev1.ConfigMap]{Type: source.Added, Object: obj, ResourceVersion: obj.ResourceVersion}); err != nil {
			return err
		}
	}
	return nil
}

func (w *watching) send(e source.Event[*corev1.ConfigMap]) error {
	if w.fault.err != nil && w.fault.err != errLateBookmark && w.events == w.fault.after {
		return w.fault.err
	}
	if e.Object != nil {
		e.Object = fresh(e.Object)
	}
	w.events++
	if err := w.event(e); err != nil {
		return err
	}
	switch {
	case e.Type == source.Bookmark && e.InitialEventsEnd:
		w.model.complete(e.ResourceVersion)
	case w.initing && e.Type == source.Deleted:
		w.model.unplace(e.Object)
	case w.initing && e.Object != nil:
		w.model.replace(e.Object)
	default:
		w.model.event(e)
	}
	return nil
}

func (w *watching) bookmark() error {
	e := source.Event[*corev1.ConfigMap]{Type: source.Bookmark, ResourceVersion: strconv.Itoa(w.version), InitialEventsEnd: w.initing}
	if err := w.send(e); err != nil {
		return err
	}
	w.told, w.initing = w.version, false
	return nil
}

func (w *watching) run(ctx context.Context, timeout time.Duration) error {
	end := time.NewTimer(cmp.Or(timeout, 24*time.Hour))
	defer end.Stop()
	idle := time.NewTicker(bookmarkEvery)
	defer idle.Stop()
	var late <-chan time.Time
	if w.initing {
		late = time.After(lateness)
	}
	for ctx.Err() == nil {
		more, changed, err := w.step()
		if err != nil {
			if err == errEnded {
				return nil
			}
			return err
		}
		if more {
			continue
		}
		select {
		case <-changed:
		case <-late:
			if w.initing {
				err = w.bookmark()
			}
		case <-idle.C:
			if w.told != w.version && !w.initing {
				err = w.bookmark()
			}
		case <-end.C:
			return nil
		case <-ctx.Done():
		}
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

var errEnded = errors.New("the server ends the stream")

// step obeys an order or tells a change. If there is neither, changed is closed when there may be.
func (w *watching) step() (more bool, changed <-chan struct{}, err error) {
	w.mu.Lock()
	if len(w.orders) > 0 {
		o := w.orders[0]
		w.orders = w.orders[1:]
		w.mu.Unlock()
		return true, nil, w.obey(o)
	}
	if w.version < w.versionLocked() {
		e := w.eventLocked(w.version, w.scope)
		w.version++
		w.mu.Unlock()
		if e != nil {
			if err := w.send(*e); err != nil {
				return false, nil, err
			}
			w.last, w.told = e, w.version
		}
		return true, nil, nil
	}
	defer w.mu.Unlock()
	return false, w.changed, nil
}

func (w *watching) obey(o order) error {
	switch o {
	case endStream:
		return errEnded
	case cutStream:
		return errCut
	case expireStream:
		return errExpired
	case sendBookmark:
		return w.bookmark()
	case repeatLast:
		if w.last != nil && w.told == number(w.last.ResourceVersion) {
			return w.send(*w.last)
		}
	}
	return nil
}
