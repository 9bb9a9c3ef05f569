// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type kindInformer struct {
	// set once at construction
	informer       *informer.SharedIndexInformer[object.Object]
	shared         clientcache.SharedIndexInformer // the same one, for client-go
	store          store.Reader[object.Object]
	noCopies       bool            // readers get the objects themselves
	copyExceptions map[string]bool // noCopies of the namespaces where it differs
	hasRing        bool            // it reads the buckets of this process

	synced atomic.Bool // whether the informer is known to have synced; never reset
}

func (p *kindInformer) disablesCopies(namespace string) bool {
	if own, ok := p.copyExceptions[namespace]; ok {
		return own
	}
	return p.noCopies
}

type kindReader struct {
	kindKey
	client    *source.Client
	resource  schema.GroupVersionResource
	newObject func() object.Object
	formats   []source.Format // nil: the type's default
	onError   clientcache.WatchErrorHandlerWithContext
	ring      *shard.Ring // nil: informers read the objects of all buckets
}

func resourceName(gvr schema.GroupVersionResource) string {
	if gvr.Group == "" {
		return gvr.Resource + "/" + gvr.Version
	}
	return gvr.Resource + "." + gvr.Group + "/" + gvr.Version
}

func (r *kindReader) newKindInformer(i *informer.SharedIndexInformer[object.Object], settings kindSettings) (*kindInformer, error) {
	p := &kindInformer{informer: i, shared: promptInformer{clientgo.New(i)}, store: i.Store(), copyExceptions: map[string]bool{}, hasRing: r.ring != nil}
	p.noCopies = ptr.Deref(settings.config.UnsafeDisableDeepCopy, false)
	for namespace, config := range settings.namespaces {
		if own := ptr.Deref(config.UnsafeDisableDeepCopy, false); own != p.noCopies {
			p.copyExceptions[namespace] = own
		}
	}
	return p, errors.Join(p.shared.SetTransform(transformOf(settings)), p.shared.SetWatchErrorHandlerWithContext(r.onError))
}

// source returns the source of a namespace, or of all for "".
func (r *kindReader) source(namespace string, config watchConfig) (*source.HTTP[object.Object], error) {
	opts := source.Options{Namespace: namespace, Kind: r.gvk.Kind, NewObject: r.newObject, Formats: r.formats}
	if config.LabelSelector != nil {
		opts.LabelSelector = config.LabelSelector.String()
	}
	if config.FieldSelector != nil {
		opts.FieldSelector = config.FieldSelector.String()
	}
	opts.DropManagedFields = isStripManagedFields(config.Transform)
	return source.New[object.Object](r.client, r.resource, opts)
}

func (r *kindReader) options(name string, syncPeriod *time.Duration) []informer.Option {
	if r.view != typed {
		name += " (" + r.view.String() + ")"
	}
	// 90 to 110 % of the period, so that not all informers resync at once
	period := time.Duration(float64(max(ptr.Deref(syncPeriod, defaultSyncPeriod), 0)) * (0.9 + 0.2*rand.Float64()))
	options := []informer.Option{
		informer.WithName(name),
		informer.WithLogger(log.Log.WithName("informer-gen")),
		informer.WithResyncPeriod(period),
	}
	if r.ring != nil {
		options = append(options, informer.WithRing(r.ring))
	}
	return options
}
