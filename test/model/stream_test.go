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

// errLateBookmark is not an error: the bookmark at the end of initial events comes late, after
// further events.
var errLateBookmark = errors.New("late bookmark")

// lateness is the delay of a late bookmark.
const lateness = 5 * time.Second

// bookmarkEvery is the interval of bookmarks on an idle stream, as of API servers.
const bookmarkEvery = time.Minute

// serverStream is the server's side of one open watch.
type serverStream struct {
	*client
	*stream
	event        func(source.Event[*corev1.ConfigMap]) error
	fault        fault
	initializing bool // until the bookmark at the end of the initial events
	version      int  // all changes up to it are sent or irrelevant
	announced    int  // version of the last event or bookmark
	events       int
	last         *source.Event[*corev1.ConfigMap]
}

func (w *serverStream) initial(state []*corev1.ConfigMap) error {
	w.initializing = true
	w.model.begin()
	for _, obj := range state {
		if err := w.send(source.Event[*corev1.ConfigMap]{Type: source.Added, Object: obj, ResourceVersion: obj.ResourceVersion}); err != nil {
			return err
		}
	}
	return nil
}

func (w *serverStream) send(e source.Event[*corev1.ConfigMap]) error {
	if w.fault.err != nil && w.fault.err != errLateBookmark && w.events == w.fault.after {
		return w.fault.err
	}
	if e.Object != nil {
		e.Object = copyObject(e.Object)
	}
	w.events++
	if err := w.event(e); err != nil {
		return err
	}
	switch {
	case e.Type == source.Bookmark && e.InitialEventsEnd:
		w.model.complete(e.ResourceVersion)
	case w.initializing && e.Type == source.Deleted:
		w.model.unstage(e.Object)
	case w.initializing && e.Object != nil:
		w.model.replace(e.Object)
	default:
		w.model.event(e)
	}
	return nil
}

func (w *serverStream) bookmark() error {
	e := source.Event[*corev1.ConfigMap]{Type: source.Bookmark, ResourceVersion: strconv.Itoa(w.version), InitialEventsEnd: w.initializing}
	if err := w.send(e); err != nil {
		return err
	}
	w.announced, w.initializing = w.version, false
	return nil
}

func (w *serverStream) run(ctx context.Context, timeout time.Duration) error {
	end := time.NewTimer(cmp.Or(timeout, 24*time.Hour))
	defer end.Stop()
	idle := time.NewTicker(bookmarkEvery)
	defer idle.Stop()
	var late <-chan time.Time
	if w.initializing {
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
			if w.initializing {
				err = w.bookmark()
			}
		case <-idle.C:
			if w.announced != w.version && !w.initializing {
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

// step obeys an order or sends a change. If there is neither, changed is closed at the next one.
func (w *serverStream) step() (more bool, changed <-chan struct{}, err error) {
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
			w.last, w.announced = e, w.version
		}
		return true, nil, nil
	}
	defer w.mu.Unlock()
	return false, w.changed, nil
}

func (w *serverStream) obey(o order) error {
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
		if w.last != nil && w.announced == number(w.last.ResourceVersion) {
			return w.send(*w.last)
		}
	}
	return nil
}
