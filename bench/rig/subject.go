// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"encoding/json"
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/server"
)

// Subject is an informer of one kind, with a handler that counts its events.
type Subject interface {
	Start() (stop func(), err error)
	Synced() bool
	// Added and Updated are closed when the handler has got all expected events.
	Added() <-chan struct{}
	Updated() <-chan struct{}
	// UpdatedAt returns the time at which Updated was closed. Call it only afterwards.
	UpdatedAt() time.Time
	// See summarizes the informer's objects and its handler's events. Call it after the informer
	// has stopped. With deep, it clears the objects' kinds.
	See(deep bool) harness.Seen
}

type subjectOf[T server.Object] struct {
	Rig[T]
	view                  func(T) any
	adds, updates         int
	wantAdds, wantUpdates int
	digest                uint64
	allAdded, allUpdated  chan struct{}
	last                  time.Time
}

// NewSubject makes a subject of that side whose handler expects so many adds and updates.
func NewSubject[T server.Object](s harness.Side, c server.Collection[T], how Setup, adds, updates int) (Subject, error) {
	r, err := New(s, c, how)
	if err != nil {
		return nil, err
	}
	return SubjectOf(r, adds, updates, func(obj T) any { return obj })
}

// SubjectOf makes a subject of an informer. view returns the part of an object to compare with the
// other side's.
func SubjectOf[T server.Object](r Rig[T], adds, updates int, view func(T) any) (Subject, error) {
	sub := &subjectOf[T]{Rig: r, view: view, wantAdds: adds, wantUpdates: updates, allAdded: make(chan struct{}), allUpdated: make(chan struct{})}
	return sub, r.Handle(Handler[T]{
		Add: func(obj T) {
			sub.digest += Digest(string(obj.GetUID()), obj.GetResourceVersion())
			if sub.adds++; sub.adds == sub.wantAdds {
				close(sub.allAdded)
			}
		},
		Update: func(old, obj T) {
			if old.GetResourceVersion() == obj.GetResourceVersion() {
				// a relist of client-go reports everything, and handlers have to look
				return
			}
			sub.digest += Digest(string(obj.GetUID()), obj.GetResourceVersion())
			if sub.updates++; sub.updates == sub.wantUpdates {
				sub.last = time.Now()
				close(sub.allUpdated)
			}
		},
	})
}

func (s *subjectOf[T]) Added() <-chan struct{}   { return s.allAdded }
func (s *subjectOf[T]) Updated() <-chan struct{} { return s.allUpdated }
func (s *subjectOf[T]) UpdatedAt() time.Time     { return s.last }

func (s *subjectOf[T]) See(deep bool) harness.Seen {
	saw := harness.Seen{Events: s.adds + s.updates, Digest: s.digest}
	for obj := range s.Objects() {
		saw.Objects++
		saw.Digest += Digest(obj.GetNamespace(), obj.GetName(), string(obj.GetUID()), obj.GetResourceVersion())
		if deep {
			// client-go's typed clients have done so
			obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			text, err := json.Marshal(s.view(obj))
			if err != nil {
				text = []byte(err.Error()) // the other side should have the same
			}
			saw.Digest += Digest(string(text))
		}
	}
	return saw
}

// Digest is a hash of the parts, the same in every process: FNV-1a, without allocating.
func Digest(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211 // a byte that no text has
	}
	return h
}

// SumUpPods summarizes the Pods, in any order.
func SumUpPods(pods iter.Seq[*corev1.Pod]) harness.Seen {
	var s harness.Seen
	for pod := range pods {
		s.Objects++
		s.Digest += Digest(pod.Namespace, pod.Name, string(pod.UID), pod.ResourceVersion)
	}
	return s
}
