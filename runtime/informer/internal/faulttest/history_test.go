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

// id is one state of one object.
type id struct {
	uid            types.UID
	version, image string
}

func idOf(pod *corev1.Pod) id { return id{pod.UID, pod.ResourceVersion, pod.Spec.Containers[0].Image} }

// truth is everything that was ever written to the server. It is what histories are compared with.
type truth struct {
	mu     sync.Mutex // mu guards what follows
	states map[object.Key]map[id]bool
}

// write notes what a write has stored, before the informer can get the event.
func (tr *truth) write(write func() *corev1.Pod) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	pod := write()
	key := object.KeyOf(pod)
	if tr.states[key] == nil {
		tr.states[key] = map[id]bool{}
	}
	tr.states[key][idOf(pod)] = true
}

func (tr *truth) has(pod *corev1.Pod) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.states[object.KeyOf(pod)][idOf(pod)]
}

// history is a handler that checks its events, independently of the code that delivers them. For
// each key it wants: add, updates, delete, and perhaps again; no gap (the old object of an update
// is that of the previous event); one UID from add to delete; each version newer than the previous
// one; no state that the server never had; one callback at a time; no initial add after the initial
// list. It keeps the objects that exist, and nothing else.
type history struct {
	name  string
	truth *truth
	pause time.Duration // of each callback
	back  bool          // the server's versions went back: an update may be to an older one

	mu      sync.Mutex // mu guards what follows
	inside  int
	live    map[object.Key]*corev1.Pod
	adds    int
	updates int
	deletes int
	synced  func() bool // of the registration; nil until it is known
	illegal []string
	changed chan struct{} // closed after the next callback; nil if no goroutine waits
}

func newHistory(name string, tr *truth) *history {
	return &history{name: name, truth: tr, live: map[object.Key]*corev1.Pod{}}
}

// call runs one callback's check.
func (h *history) call(check func()) {
	h.mu.Lock()
	h.inside++
	if h.inside > 1 {
		h.complainLocked("%d callbacks at a time", h.inside)
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

// await waits until the history has come to what is wanted, or until ctx is done.
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
		h.knownLocked("add", pod)
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
			h.complainLocked("update of %s from %v, told last %v", key, idOf(old), idOf(last))
		case old.UID != pod.UID:
			h.complainLocked("update of %s from uid %s to %s", key, old.UID, pod.UID)
		case idOf(old) == idOf(pod):
			h.complainLocked("update of %s to the same version %s", key, pod.ResourceVersion)
		case !h.back && number(pod) < number(old):
			h.complainLocked("update of %s back from %v to %v", key, idOf(old), idOf(pod))
		}
		h.knownLocked("update", pod)
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
			h.complainLocked("delete of %s %v, told last %v", d.Key, idOf(d.Object), idOf(last))
		case !h.back && number(d.Object) < number(last):
			h.complainLocked("delete of %s back from %v to %v", d.Key, idOf(last), idOf(d.Object))
		default:
			h.knownLocked("delete", d.Object)
		}
		delete(h.live, d.Key)
		h.deletes++
	})
}

func (h *history) knownLocked(what string, pod *corev1.Pod) {
	if !h.truth.has(pod) {
		h.complainLocked("%s of %s with %v, which the server never had", what, object.KeyOf(pod), idOf(pod))
	}
}

// verdict returns what is wrong with the history, and with its result.
func (h *history) verdict(want map[object.Key]id) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	wrong := h.illegal
	for key, pod := range h.live {
		if want[key] != idOf(pod) {
			wrong = append(wrong, fmt.Sprintf("%s is told as %v, the server has %v", key, idOf(pod), want[key]))
		}
	}
	for key := range want {
		if h.live[key] == nil {
			wrong = append(wrong, fmt.Sprintf("%s was not told", key))
		}
	}
	return wrong
}

func number(pod *corev1.Pod) int {
	n, _ := strconv.Atoi(pod.ResourceVersion)
	return n
}
