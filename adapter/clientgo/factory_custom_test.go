// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
)

// widget is a custom resource without protobuf.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []widget `json:"items"`
}

func (w *widget) DeepCopyObject() runtime.Object     { return &widget{w.TypeMeta, *w.DeepCopy()} }
func (l *widgetList) DeepCopyObject() runtime.Object { c := *l; return &c }

var widgets = schema.GroupVersionResource{Group: "samples.io", Version: "v1", Resource: "widgets"}

// widgetFactory is a generated factory with one informer. It counts the constructions.
type widgetFactory struct {
	client   *rest.RESTClient
	informer cache.SharedIndexInformer
	runs     *int
}

type newWidgets func(*rest.RESTClient, time.Duration) cache.SharedIndexInformer

func (f *widgetFactory) InformerFor(_ runtime.Object, construct newWidgets) cache.SharedIndexInformer {
	if f.informer == nil {
		f.informer = construct(f.client, 0)
		*f.runs++
	}
	return f.informer
}

func (f *widgetFactory) ForResource(resource schema.GroupVersionResource) (*widgetFactory, error) {
	if resource != widgets {
		return nil, fmt.Errorf("no informer of %s", resource)
	}
	return f, nil
}

func (f *widgetFactory) Informer() cache.SharedIndexInformer {
	return f.InformerFor(&widget{}, func(client *rest.RESTClient, resync time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
				list := &widgetList{}
				return list, client.Get().Resource("widgets").Do(ctx).Into(list)
			},
			WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				return client.Get().Resource("widgets").Param("watch", "true").Watch(ctx)
			},
		}, &widget{}, resync, nil)
	})
}

// TestNewFactoryWithoutProtobuf: a client that prefers protobuf also works for kinds without it,
// because servers then answer in JSON.
func TestNewFactoryWithoutProtobuf(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(widgets.GroupVersion(), &widget{}, &widgetList{})
	metav1.AddToGroupVersion(scheme, widgets.GroupVersion())
	for _, contentType := range []string{"", runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		runs := 0
		factory, err := clientgo.NewFactory(&rest.Config{}, func(config *rest.Config) (*widgetFactory, error) {
			group := widgets.GroupVersion()
			config = rest.CopyConfig(config)
			config.ContentType, config.GroupVersion, config.APIPath = contentType, &group, "/apis"
			config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
			client, err := rest.RESTClientFor(config)
			return &widgetFactory{client: client, runs: &runs}, err
		}, widgets)
		want := 2 // one whose list is captured, and one for the result
		if contentType == runtime.ContentTypeProtobuf {
			want++
		}
		if err != nil || factory.informer == nil || runs != want {
			t.Errorf("content type %q: error %v, made %d informers, want %d", contentType, err, runs, want)
		}
	}
}
