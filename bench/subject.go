// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// subject is an informer of one kind, with a handler that counts its events.
type subject interface {
	start() (stop func(), err error)
	synced() bool
	// added and updated are closed when the handler has got all expected events.
	added() <-chan struct{}
	updated() <-chan struct{}
	// updatedAt is when updated was closed. It may be called then.
	updatedAt() time.Time
	// see summarizes the informer's objects and its handler's events. Call it when the informer has
	// stopped. With deep, it takes the kinds from the objects.
	see(deep bool) seen
	// repeats returns how often the handler got an update to a state that it had already. Call it
	// when the informer has stopped.
	repeats() int
}

type subjectOf[T thing] struct {
	rigOf[T]
	adds, updates, repeated int
	wantAdds, wantUpdates   int
	told                    uint64
	allAdded, allUpdated    chan struct{}
	last                    time.Time
}

func newSubject[T thing](s side, c collectionOf[T], how setup, adds, updates int) (subject, error) {
	r, err := newRigOf(s, c, how)
	if err != nil {
		return nil, err
	}
	sub := &subjectOf[T]{rigOf: r, wantAdds: adds, wantUpdates: updates, allAdded: make(chan struct{}), allUpdated: make(chan struct{})}
	return sub, r.handle(handlerOf[T]{
		add: func(obj T) {
			sub.told += digest(string(obj.GetUID()), obj.GetResourceVersion())
			if sub.adds++; sub.adds == sub.wantAdds {
				close(sub.allAdded)
			}
		},
		change: func(old, obj T) {
			if old.GetResourceVersion() == obj.GetResourceVersion() {
				// a relist of client-go reports everything, and handlers have to look
				sub.repeated++
				return
			}
			sub.told += digest(string(obj.GetUID()), obj.GetResourceVersion())
			if sub.updates++; sub.updates == sub.wantUpdates {
				sub.last = time.Now()
				close(sub.allUpdated)
			}
		},
	})
}

func (s *subjectOf[T]) added() <-chan struct{}   { return s.allAdded }
func (s *subjectOf[T]) updated() <-chan struct{} { return s.allUpdated }
func (s *subjectOf[T]) updatedAt() time.Time     { return s.last }

func (s *subjectOf[T]) repeats() int { return s.repeated }

func (s *subjectOf[T]) see(deep bool) seen {
	saw := seen{Events: s.adds + s.updates, Digest: s.told}
	for obj := range s.objects() {
		saw.Objects++
		saw.Digest += digest(obj.GetNamespace(), obj.GetName(), string(obj.GetUID()), obj.GetResourceVersion())
		if deep {
			// which client-go's typed clients have done
			obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			text, err := json.Marshal(obj)
			if err != nil {
				text = []byte(err.Error()) // and the other side should have the same
			}
			saw.Digest += digest(string(text))
		}
	}
	return saw
}

// digest is a hash of the parts, the same in every process: FNV-1a, without allocating.
func digest(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211 // which no text has
	}
	return h
}

// fleet is several informers that run together.
type fleet []subject

func (f fleet) start() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
		stops = nil
	}
	for _, s := range f {
		one, e := s.start()
		stops = append(stops, one)
		err = errors.Join(err, e)
	}
	return stop, err
}

func (f fleet) waitAdded() error {
	for _, s := range f {
		if err := wait(s.added(), "the handlers to be told of all objects"); err != nil {
			return err
		}
	}
	return nil
}

func (f fleet) waitSynced() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if !slices.ContainsFunc(f, func(s subject) bool { return !s.synced() }) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %v for the sync", patience)
		}
	}
}

func (f fleet) see(deep bool) (saw seen) {
	for _, s := range f {
		one := s.see(deep)
		saw.Objects += one.Objects
		saw.Events += one.Events
		saw.Digest += one.Digest
	}
	return saw
}

func podRemote(f from) remote[*corev1.Pod, *corev1.PodList] {
	return remote[*corev1.Pod, *corev1.PodList]{
		from: f, kind: pods,
		empty: func() *corev1.Pod { return &corev1.Pod{} }, list: func() *corev1.PodList { return &corev1.PodList{} },
	}
}

func certificateRemote(f from) remote[*certificate, *certificateList] {
	return remote[*certificate, *certificateList]{
		from: f, kind: certificates,
		empty: func() *certificate { return &certificate{} }, list: func() *certificateList { return &certificateList{} },
	}
}

func routeRemote(f from) remote[*gatewayv1.HTTPRoute, *gatewayv1.HTTPRouteList] {
	return remote[*gatewayv1.HTTPRoute, *gatewayv1.HTTPRouteList]{
		from: f, kind: routes,
		empty: func() *gatewayv1.HTTPRoute { return &gatewayv1.HTTPRoute{} },
		list:  func() *gatewayv1.HTTPRouteList { return &gatewayv1.HTTPRouteList{} },
	}
}
