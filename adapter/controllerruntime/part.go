// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// part is one informer of a kind.
type part struct {
	// set once at construction
	informer *informer.SharedIndexInformer[client.Object]
	shared   clientcache.SharedIndexInformer // the same one, as client-go has it
	store    store.Reader[client.Object]
	noCopies bool // readers get the objects themselves
}

// reading makes the informers of a kind.
type reading struct {
	client    *source.Client
	resource  schema.GroupVersionResource
	kind      string
	newObject func() object.Object
	onError   clientcache.WatchErrorHandlerWithContext
}

// parts makes the informers that s asks for.
func (r reading) parts(s kindSettings, namespaced bool) (parts, error) {
	if !namespaced || len(s.namespaces) == 0 {
		namespace := ""
		if namespaced {
			namespace = namespaceOf("", s.config)
		}
		one, err := r.part(namespace, s.config)
		if err != nil {
			return parts{}, err
		}
		return parts{all: []*part{one}, rest: one}, nil
	}
	made := parts{of: map[string]*part{}}
	for namespace, config := range s.namespaces {
		one, err := r.part(namespaceOf(namespace, config), config)
		if err != nil {
			return parts{}, err
		}
		made.all = append(made.all, one)
		if namespace == cache.AllNamespaces {
			made.rest = one
		} else {
			made.of[namespace] = one
		}
	}
	return made, nil
}

// part makes the informer of one namespace, or of all for "".
func (r reading) part(namespace string, config cache.Config) (*part, error) {
	opts := source.Options{Namespace: namespace, Kind: r.kind, NewObject: r.newObject}
	if config.LabelSelector != nil {
		opts.LabelSelector = config.LabelSelector.String()
	}
	if config.FieldSelector != nil {
		opts.FieldSelector = config.FieldSelector.String()
	}
	// what would only be dropped again is not even decoded
	opts.DropManagedFields = isStripManagedFields(config.Transform)
	src, err := source.New[client.Object](r.client, r.resource, opts)
	if err != nil {
		return nil, err
	}
	of := []informer.Option{
		informer.WithName(src.String()),
		informer.WithLogger(log.Log.WithName("informer-gen")),
		informer.WithResyncPeriod(jitter(ptr.Deref(config.SyncPeriod, defaultSyncPeriod))),
	}
	if config.Transform != nil && !opts.DropManagedFields {
		of = append(of, informer.WithTransform(transform(config.Transform)))
	}
	i, err := informer.New(src, of...)
	if err != nil {
		return nil, err
	}
	shared := clientgo.New(i)
	if r.onError != nil {
		if err := shared.SetWatchErrorHandlerWithContext(r.onError); err != nil {
			return nil, err
		}
	}
	return &part{
		informer: i,
		shared:   shared,
		store:    i.Store(),
		noCopies: ptr.Deref(config.UnsafeDisableDeepCopy, false),
	}, nil
}

// jitter returns 90 to 110 % of period, so that not all informers resync at once.
func jitter(period time.Duration) time.Duration {
	return time.Duration(float64(period) * (0.9 + 0.2*rand.Float64()))
}

var stripManagedFields = reflect.ValueOf(cache.TransformStripManagedFields()).Pointer()

// isStripManagedFields reports whether transform was made by cache.TransformStripManagedFields. All
// functions that it makes have the same code, and no variables.
func isStripManagedFields(transform clientcache.TransformFunc) bool {
	return transform != nil && reflect.ValueOf(transform).Pointer() == stripManagedFields
}

func transform(f clientcache.TransformFunc) func(client.Object) (client.Object, error) {
	return func(obj client.Object) (client.Object, error) {
		out, err := f(obj)
		if err != nil {
			return nil, err
		}
		transformed, ok := out.(client.Object)
		if !ok {
			return nil, fmt.Errorf("the transform returned %T; want %T", out, obj)
		}
		return transformed, nil
	}
}
