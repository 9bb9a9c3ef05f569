// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestSetTransformAndSetErrorHandler shows that a transform and an error handler may be set until
// the first run begins, and that they replace those of the options. Later calls fail and change
// nothing.
func TestSetTransformAndSetErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "a", "1"))
		defer server.Inject(sourcetest.Fault{Times: 1, Do: sourcetest.Refuse(503)})()
		appendNode := func(node string) func(*corev1.Pod) (*corev1.Pod, error) {
			return func(pod *corev1.Pod) (*corev1.Pod, error) {
				pod.Spec.NodeName += node
				return pod, nil
			}
		}
		var failures []string
		record := func(handler string) func(string, error) {
			return func(informer string, err error) {
				failures = append(failures, fmt.Sprint(handler, " of ", informer, ": ", apierrors.IsServiceUnavailable(err)))
			}
		}
		pods := newPods(t, server.Source(t), informer.WithName("pods"), informer.WithLogger(discard),
			informer.WithTransform(appendNode(" by option")), informer.WithErrorHandler(record("option")))
		var j journal[*corev1.Pod]
		registration := informertest.Add(t, pods, &j)
		noError(t, errors.Join(pods.SetTransform(nil), pods.SetTransform(appendNode(" by SetTransform")), pods.SetErrorHandler(nil), pods.SetErrorHandler(record("SetErrorHandler"))))
		for range 2 {
			stop := start(t, pods)
			pass(time.Minute)
			const begun = "the informer has begun to run; call "
			want(t, pods.SetTransform(nil), "informer pods: SetTransform: "+begun+"SetTransform before its first Run, Acquire or Start")
			want(t, pods.SetErrorHandler(nil), "informer pods: SetErrorHandler: "+begun+"SetErrorHandler before its first Run, Acquire or Start")
			stop()
			want(t, pods.SetTransform(nil), "informer pods: SetTransform: "+begun+"SetTransform before its first Run, Acquire or Start")
		}
		got, _ := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "a"})
		same(t, "node", got.Spec.NodeName, "1 by SetTransform")
		same(t, "failures", failures, []string{"SetErrorHandler of pods: true"})
		j.Saw(t, "+a@2 initial")
		if !registration.HasSynced() {
			t.Error("the handler has not synced")
		}
	})
}

// TestSetTransformNilSharesParts shows that SetTransform(nil) cancels the option's transform:
// objects come from the source with shared parts.
func TestSetTransformNilSharesParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		for i := range 40 {
			server.Pods.Create(fullPod("shop", 1, i))
		}
		calls := 0
		pods := newPods(t, server.Source(t), informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) { calls++; return pod, nil }))
		noError(t, pods.SetTransform(nil))
		start(t, pods)
		labels := map[uintptr]bool{}
		for pod := range pods.Store().Snapshot().All() {
			labels[reflect.ValueOf(pod.Labels).Pointer()] = true
		}
		if calls != 0 || len(labels) > 5 {
			t.Errorf("%d calls of the transform, %d different maps of labels; want 0, and at most 5", calls, len(labels))
		}
	})
}
