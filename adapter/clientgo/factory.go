// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Factory is a SharedInformerFactory as code-generator's informer-gen writes it, with the types
// NewInformerFunc (N) and GenericInformer (G) beside it.
type Factory[N any, G GenericInformer] interface {
	InformerFor(obj runtime.Object, newFunc N) cache.SharedIndexInformer
	ForResource(resource schema.GroupVersionResource) (G, error)
}

// GenericInformer is the part of a generated GenericInformer that NewFactory needs.
type GenericInformer interface {
	Informer() cache.SharedIndexInformer
}

// NewFactory returns newFactory's factory for config. Its informers of resources are the runtime's;
// all others stay client-go's. The factory must have an informer of each resource.
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
// newFactory is called two or three times: also with a rest.Config whose requests reach no server.
// So newFactory must not start the factory or ask it for informers. As in a started factory, a
// function that tweaks list options is called by several goroutines at once.
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
	reads, err := explore(newFactory, resources, true)
	if err != nil {
		// A client may ask for protobuf, and have kinds it can't decode from it.
		reads, err = explore(newFactory, resources, false)
	}
	if err != nil {
		return fail(err)
	}
	for _, r := range reads {
		src, err := r.of.source(client, r.example)
		if err != nil {
			return fail(err)
		}
		installed := false
		factory.InformerFor(r.example, func(_ C, resync time.Duration) cache.SharedIndexInformer {
			installed = true
			return newInformer(src, r.example, resync, nil)
		})
		if !installed {
			return fail(fmt.Errorf("the new factory has an informer of %T already; newFactory must not ask it for informers", r.example))
		}
	}
	return factory, nil
}

type capturedList struct {
	of      collection
	example object.Object
}

// explore returns the readings of a new factory's informers, by running all of them at once. With
// protobuf, clients that prefer protobuf decode it.
func explore[F Factory[N, G], N ~func(C, time.Duration) cache.SharedIndexInformer, G GenericInformer, C any](
	newFactory func(*rest.Config) (F, error), resources []schema.GroupVersionResource, protobuf bool,
) ([]capturedList, error) {
	// client-go's reflector sends these parameters.
	requests := &capture{sent: map[string]string{"limit": "500", "resourceVersion": "0"}, protobuf: protobuf}
	factory, err := newFactory(&rest.Config{Host: "http://requests.reach.no.server", Transport: requests, QPS: -1})
	if err != nil {
		return nil, err
	}
	var group sync.WaitGroup
	reads, errs := make([]capturedList, len(resources)), make([]error, len(resources))
	for i, resource := range resources {
		generated, err := factory.ForResource(resource)
		if err != nil {
			errs[i] = err
			continue
		}
		informer := generated.Informer()
		group.Go(func() {
			example, err := firstObject(informer)
			if err == nil {
				reads[i].example = example
				reads[i].of, err = requests.listOf(example)
			}
			if err != nil {
				errs[i] = fmt.Errorf("informer of %s: %w", resource, err)
			}
		})
	}
	group.Wait()
	return reads, errors.Join(errs...)
}

// firstObject runs an informer until it gets an object, and returns that. The informer must not log
// the refusal of watches and of the object.
func firstObject(i cache.SharedIndexInformer) (object.Object, error) {
	ctx, cancel := context.WithTimeout(klog.NewContext(context.Background(), logr.Discard()), patience)
	first, failed := make(chan any, 1), make(chan error, 1)
	// A transform takes less memory and fewer goroutines than a handler, and ends the list.
	err := errors.Join(
		i.SetTransform(func(obj any) (any, error) {
			select {
			case first <- obj:
			default:
			}
			return nil, errStopList
		}),
		i.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
			select {
			case failed <- err:
			default:
			}
		}),
	)
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i.RunWithContext(ctx)
	}()
	var obj any
	select {
	case obj = <-first:
	case err = <-failed:
	case <-ctx.Done():
		err = fmt.Errorf("it sent no list within %v", patience)
	}
	cancel()
	<-ended
	if err != nil {
		select {
		case obj = <-first: // the error is errStopList
		default:
			return nil, err
		}
	}
	if of, ok := obj.(object.Object); ok {
		return of, nil
	}
	return nil, fmt.Errorf("a %T is no API object", obj)
}

var errStopList = errors.New("no more objects are needed")

// patience is how long client-go's code may take to send a list, and to get the made-up answer. It
// is long, because a starting program may have many informers and little processor time.
const patience = time.Minute
