// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestInformerResource shows that an informer knows its resource if its Source does.
func TestInformerResource(t *testing.T) {
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	client, err := source.NewClient(sourcetest.New().Config())
	noError(t, err)
	overHTTP, err := source.New[*corev1.Pod](client, resource, source.Options{})
	noError(t, err)
	of := func(src source.Source[*corev1.Pod]) schema.GroupVersionResource {
		i, err := informer.New(src)
		noError(t, err)
		return i.Resource()
	}
	factory := factories.New(client, informer.WithNamespace("a", "b"))
	for name, test := range map[string]struct{ got, want schema.GroupVersionResource }{
		"a factory's":  {factories.For[*corev1.Pod](factory, resource).Resource(), resource},
		"over HTTP":    {of(overHTTP), resource},
		"any Source":   {of(struct{ source.Source[*corev1.Pod] }{}), schema.GroupVersionResource{}},
		"a broken one": {factories.For[*corev1.Pod](factory, schema.GroupVersionResource{}).Resource(), schema.GroupVersionResource{}},
	} {
		if test.got != test.want {
			t.Errorf("%s: Resource() = %v, want %v", name, test.got, test.want)
		}
	}
}
