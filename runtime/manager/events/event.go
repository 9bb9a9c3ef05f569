// SPDX-License-Identifier: Apache-2.0

package events

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	maxWord = 128  // bytes of a reason and of an action
	maxNote = 1024 // bytes of a note
)

func (r *Recorder) newEvent(regarding, related runtime.Object, eventtype, reason, action, note string) (*eventsv1.Event, error) {
	var errs []error
	e := &eventsv1.Event{
		EventTime: metav1.MicroTime{Time: time.Now()}, ReportingController: r.controller, ReportingInstance: r.instance,
		Type: eventtype, Reason: reason, Action: action, Note: cut(note, maxNote),
	}
	about, err := referenceTo(regarding)
	if err != nil {
		errs = append(errs, err)
	}
	e.Regarding = about
	if !isNil(related) {
		to, err := referenceTo(related)
		if err != nil {
			errs = append(errs, fmt.Errorf("the related object: %w", err))
		}
		e.Related = &to
	}
	if eventtype != corev1.EventTypeNormal && eventtype != corev1.EventTypeWarning {
		errs = append(errs, fmt.Errorf("the type is %q; it must be Normal or Warning", eventtype))
	}
	for _, word := range []struct{ name, text string }{{"reason", reason}, {"action", action}} {
		if word.text == "" || len(word.text) > maxWord {
			errs = append(errs, fmt.Errorf("the %s is %q; it must have 1 to %d bytes", word.name, word.text, maxWord))
		}
	}
	if e.Namespace = about.Namespace; e.Namespace == "" {
		e.Namespace = metav1.NamespaceDefault
	}
	return e, errors.Join(errs...)
}

// referenceTo returns a reference to an object with apiVersion and kind.
func referenceTo(obj runtime.Object) (ref corev1.ObjectReference, err error) {
	if isNil(obj) {
		return ref, errors.New("the object is nil")
	}
	if given, ok := obj.(*corev1.ObjectReference); ok {
		return *given, nil
	}
	kind := obj.GetObjectKind().GroupVersionKind()
	if kind.Version == "" || kind.Kind == "" || kind.Group == metav1.GroupName {
		return ref, fmt.Errorf("the %T has no apiVersion and kind of its resource; pass the informer's object, or a *corev1.ObjectReference", obj)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return ref, fmt.Errorf("the %T has no metadata; pass a *corev1.ObjectReference", obj)
	}
	ref.APIVersion, ref.Kind = kind.ToAPIVersionAndKind()
	ref.Namespace, ref.Name = m.GetNamespace(), m.GetName()
	ref.UID, ref.ResourceVersion = m.GetUID(), m.GetResourceVersion()
	return ref, nil
}

// newName returns a name for an Event about an object. It looks like that of client-go's recorders,
// but has a random number instead of the time, which other recorders may share.
func newName(regarding string) string {
	number := fmt.Sprintf("%016x", rand.Uint64())
	name := regarding + "." + number
	if len(validation.IsDNS1123Subdomain(name)) > 0 { // such as system:node
		return number
	}
	return name
}

func isNil(obj runtime.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// cut returns the first bytes of a text, without a part of a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
