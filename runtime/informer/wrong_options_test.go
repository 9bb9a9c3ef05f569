// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestWrongOptions passes every wrong argument to New and AddEventHandler.
func TestWrongOptions(t *testing.T) {
	src := newShop().Source(t)
	for _, test := range []struct {
		opts []informer.Option
		want string
	}{
		{[]informer.Option{nil}, "option 1 is nil"},
		{[]informer.Option{informer.WithNamespace("x")}, "WithNamespace: not an option of informer.New; use it with factories.New or factories.For"},
		{[]informer.Option{factories.WithClusterScope()}, "WithClusterScope: not an option of informer.New; use it with factories.For"},
		{[]informer.Option{informer.WithLabelSelector(labels.Everything())}, "WithLabelSelector: not an option of informer.New; use it with factories.New or factories.For"},
		{[]informer.Option{informer.WithFieldSelector(fields.Everything())}, "WithFieldSelector: not an option of informer.New; use it with factories.New or factories.For"},
		{[]informer.Option{informer.WithTuning(reflector.Tuning{PageSize: -1})}, "WithTuning: negative Tuning.PageSize -1; 0 means its default"},
		{[]informer.Option{informer.WithName("")}, "WithName: the name is empty"},
		{[]informer.Option{informer.WithResyncPeriod(-time.Second)}, "WithResyncPeriod: -1s; want 0 or more"},
		{[]informer.Option{informer.WithBacklogThreshold(-2)}, "WithBacklogThreshold: -2 events; want 0 or more, or Never"},
		{[]informer.Option{informer.WithIndexes[object.Object]()}, "WithIndexes: indexes of object.Object given to an informer of *v1.Pod"},
		{[]informer.Option{informer.WithIndexes[*corev1.Pod](nil)}, "index 1 is nil"},
		{[]informer.Option{nil, informer.WithTuning(reflector.Tuning{PageSize: -1})}, "option 1 is nil\nWithTuning: negative Tuning.PageSize -1; 0 means its default"},
	} {
		_, err := informer.New(src, test.opts...)
		want(t, err, "informer.New: "+test.want)
	}
	_, err := informer.New[*corev1.Pod](nil)
	want(t, err, "informer.New: the source is nil")
	// the result of a failed source.New
	_, err = informer.New((*source.HTTP[*corev1.Pod])(nil))
	want(t, err, "informer.New: the source is nil")

	pods := newPods(t, src, informer.WithName("pods"))
	for _, test := range []struct {
		opt  informer.HandlerOption
		want string
	}{
		{nil, "option 1 is nil"},
		{informer.WithHandlerName(""), "WithHandlerName: the name is empty"},
		{informer.WithResyncPeriod(-time.Second), "WithResyncPeriod: -1s; want 0 or more"},
		{informer.WithBacklogThreshold(-2), "WithBacklogThreshold: -2 events; want 0 or more, or Never"},
	} {
		_, err := pods.AddEventHandler(&journal[*corev1.Pod]{}, test.opt)
		want(t, err, "informer pods: AddEventHandler: "+test.want)
	}
	_, err = pods.AddEventHandler(nil)
	want(t, err, "informer pods: AddEventHandler: the handler is nil")
	_, err = pods.AddEventHandler((*informer.HandlerFuncs[*corev1.Pod])(nil))
	want(t, err, "informer pods: AddEventHandler: the handler is nil")
	if err := pods.Run(noContext); err == nil {
		t.Error("Run(nil) = nil, want an error")
	}
	if n := len(pods.Status().Handlers); n != 0 {
		t.Errorf("%d handlers, want 0", n)
	}
}
