// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Factory is what code-generator's informer-gen writes as SharedInformerFactory: N and G are the
// types NewInformerFunc and GenericInformer beside it.
type Factory[N any, G GenericInformer] interface {
	InformerFor(obj runtime.Object, newFunc N) cache.SharedIndexInformer
	ForResource(resource schema.GroupVersionResource) (G, error)
}

// GenericInformer is the part of a generated GenericInformer that NewFactory needs.
type GenericInformer interface {
	Informer() cache.SharedIndexInformer
}

// NewFactory returns the factory that newFactory makes with config. Its informers of resources are
// the runtime's; all others stay client-go's. The factory must have an informer of each resource.
//
//	newFactory := func(config *rest.Config) (informers.SharedInformerFactory, error) {
//		client, err := kubernetes.NewForConfig(config)
//		if err != nil {
//			return nil, err
//		}
//		return informers.NewSharedInformerFactory(client, 0), nil
//	}
//	pods := corev1.SchemeGroupVersion.WithResource("pods")
//	factory, err := clientgo.NewFactory(config, newFactory, pods)
//
// newFactory is called twice: also with a rest.Config whose requests reach no server. By them
// NewFactory sees what the factory's options, such as a namespace or a function that tweaks list
// options, make the informers read. So newFactory must not start the factory or ask it for
// informers.
//
// It fails if the factory has no such resource, if newFactory fails, if list options are tweaked in
// other ways than by selectors, and as source.NewClient does.
func NewFactory[F Factory[N, G], N ~func(C, time.Duration) cache.SharedIndexInformer, G GenericInformer, C any](
	config *rest.Config, newFactory func(*rest.Config) (F, error), resources ...schema.GroupVersionResource,
) (factory F, err error) {
	fail := func(err error) (F, error) {
		var none F
		return none, fmt.Errorf("clientgo.NewFactory: %w", err)
	}
	client, err := source.NewClient(config)
	if err != nil {
		return fail(err)
	}
	if factory, err = newFactory(config); err != nil {
		return fail(err)
	}
	// client-go's reflector sends these parameters.
	requests := &capture{sent: map[string]string{"limit": "500", "resourceVersion": "0"}}
	probe, err := newFactory(&rest.Config{Host: "http://requests.reach.no.server", Transport: requests, QPS: -1})
	if err != nil {
		return fail(err)
	}
	for _, resource := range resources {
		generated, err := probe.ForResource(resource)
		if err != nil {
			return fail(err)
		}
		example, err := firstObject(generated.Informer())
		to, wrong := requests.collection()
		if err := errors.Join(err, wrong); err != nil {
			return fail(fmt.Errorf("informer of %s: %w", resource, err))
		}
		src, err := to.source(client, example)
		if err != nil {
			return fail(err)
		}
		installed := false
		factory.InformerFor(example, func(_ C, resync time.Duration) cache.SharedIndexInformer {
			installed = true
			return newInformer(src, reflector.Tuning{}, example, resync, nil)
		})
		if !installed {
			return fail(fmt.Errorf("the new factory has an informer of %T already; newFactory must not ask it for informers", example))
		}
	}
	return factory, nil
}

// firstObject runs an informer until it has an object, and returns that. The informer's watches are
// refused, which it must not log.
func firstObject(i cache.SharedIndexInformer) (object.Object, error) {
	ctx, cancel := context.WithTimeout(klog.NewContext(context.Background(), logr.Discard()), patience)
	defer cancel()
	first := make(chan any, 1)
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		select {
		case first <- obj:
		default:
		}
	}})
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i.RunWithContext(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	select {
	case obj := <-first:
		if of, ok := obj.(object.Object); ok {
			return of, nil
		}
		return nil, fmt.Errorf("a %T is no API object", obj)
	case <-ctx.Done():
		return nil, fmt.Errorf("it has not listed within %v", patience)
	}
}

// patience is how long an informer may take until it has an object that is not sent over a network.
const patience = 10 * time.Second
