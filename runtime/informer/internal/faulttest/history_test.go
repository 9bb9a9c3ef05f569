// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// id identifies one state of an object.
type id struct {
	uid            types.UID
	version, image string
}

func idOf(pod *corev1.Pod) id { return id{pod.UID, pod.ResourceVersion, pod.Spec.Containers[0].Image} }

// writes records all states that were ever written to the server, to check histories.
type writes struct {
	mu     sync.Mutex // guards the rest
	states map[object.Key]map[id]bool
}

// write records a written state before the informer can get its event.
func (ws *writes) write(write func() *corev1.Pod) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	pod := write()
	key := object.KeyOf(pod)
	if ws.states[key] == nil {
		ws.states[key] = map[id]bool{}
	}
	ws.states[key][idOf(pod)] = true
}

func (ws *writes) has(pod *corev1.Pod) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.states[object.KeyOf(pod)][idOf(pod)]
}

// history is a handler that checks its events. For each key it requires: add, updates, delete, and
// perhaps again; no gap (the old object of an update is that of the previous event); one UID from
// add to delete; ascending versions; only states that the server had; one callback at a time; no
// initial add after the initial list. It keeps only the existing objects.
type history struct {
	name     string
	writes   *writes
	pause    time.Duration // of each callback
	restored bool          // the server's versions went back: an update may be to an older one

	mu      sync.Mutex // guards the rest
	inside  int
	live    map[object.Key]*corev1.Pod
	adds    int
	updates int
	deletes int
	synced  func() bool // of the registration; nil until AddEventHandler has returned
	illegal []string
	changed chan struct{} // closed after the next callback; nil if no goroutine waits
}

func newHistory(name string, ws *writes) *history {
	return &history{name: name, writes: ws, live: map[object.Key]*corev1.Pod{}}
}

// call runs the check of one callback.
func (h *history) call(check func()) {
	h.mu.Lock()
	h.inside++
	if h.inside > 1 {
		h.complainLocked("%d callbacks at once", h.inside)
	}
	check()
	h.mu.Unlock()
	if h.pause > 0 {
		time.Sleep(h.pause)
	}
	h.mu.Lock()
	h.inside--
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	h.mu.Unlock()
}

// await waits until the handler has the wanted objects, or until ctx is done.
func (h *history) await(ctx context.Context, want map[object.Key]id) {
	for {
		h.mu.Lock()
		same := len(h.live) == len(want)
		for key, pod := range h.live {
			same = same && want[key] == idOf(pod)
		}
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		changed := h.changed
		h.mu.Unlock()
		if same {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (h *history) complainLocked(format string, args ...any) {
	h.illegal = append(h.illegal, fmt.Sprintf(format, args...))
}

func (h *history) OnAdd(pod *corev1.Pod, initial bool) {
	h.call(func() {
		key := object.KeyOf(pod)
		if last := h.live[key]; last != nil {
			h.complainLocked("add of %s %v, which exists as %v", key, idOf(pod), idOf(last))
		}
		if initial && h.synced != nil && h.synced() {
			h.complainLocked("initial add of %s after the initial list", key)
		}
		h.checkWrittenLocked("add", pod)
		h.live[key] = pod
		h.adds++
	})
}

func (h *history) OnUpdate(old, pod *corev1.Pod) {
	h.call(func() {
		key := object.KeyOf(pod)
		last := h.live[key]
		switch {
		case last == nil:
			h.complainLocked("update of %s, which doesn't exist", key)
		case last != old:
			h.complainLocked("update of %s from %v, the last state was %v", key, idOf(old), idOf(last))
		case old.UID != pod.UID:
			h.complainLocked("update of %s from uid %s to %s", key, old.UID, pod.UID)
		case idOf(old) == idOf(pod):
			h.complainLocked("update of %s to the same version %s", key, pod.ResourceVersion)
		case !h.restored && number(pod) < number(old):
			h.complainLocked("update of %s back from %v to %v", key, idOf(old), idOf(pod))
		}
		h.checkWrittenLocked("update", pod)
		h.live[key] = pod
		h.updates++
	})
}

func (h *history) OnDelete(d informer.Deleted[*corev1.Pod]) {
	h.call(func() {
		last := h.live[d.Key]
		switch {
		case last == nil:
			h.complainLocked("delete of %s, which doesn't exist", d.Key)
		case d.Object == nil || object.KeyOf(d.Object) != d.Key:
			h.complainLocked("delete of %s with the object %v", d.Key, d.Object)
		case d.Object.UID != last.UID:
			h.complainLocked("delete of %s %v, the last state was %v", d.Key, idOf(d.Object), idOf(last))
		case !h.restored && number(d.Object) < number(last):
			h.complainLocked("delete of %s back from %v to %v", d.Key, idOf(last), idOf(d.Object))
		default:
			h.checkWrittenLocked("delete", d.Object)
		}
		delete(h.live, d.Key)
		h.deletes++
	})
}

func (h *history) checkWrittenLocked(what string, pod *corev1.Pod) {
	if !h.writes.has(pod) {
		h.complainLocked("%s of %s with %v, which the server never had", what, object.KeyOf(pod), idOf(pod))
	}
}

// violations returns the illegal events, and the differences of the resulting objects.
func (h *history) violations(want map[object.Key]id) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.illegal
	for key, pod := range h.live {
		if want[key] != idOf(pod) {
			all = append(all, fmt.Sprintf("the handler has %s as %v, the server as %v", key, idOf(pod), want[key]))
		}
	}
	for key := range want {
		if h.live[key] == nil {
			all = append(all, fmt.Sprintf("the handler lacks %s", key))
		}
	}
	return all
}

func number(pod *corev1.Pod) int {
	n, _ := strconv.Atoi(pod.ResourceVersion)
	return n
}
