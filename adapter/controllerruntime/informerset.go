// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// informerSet has the informers of a kind: one of all namespaces, one of several by name, or both.
type informerSet struct {
	// set once at construction
	all    []*kindInformer
	named  *kindInformer // reads the namespaces in names; nil if it would read none
	others *kindInformer // reads all others; nil if they are not read

	names atomic.Pointer[map[string]bool] // the map is immutable
}

// in returns the informer of a namespace, or nil.
func (p *informerSet) in(namespace string) *kindInformer {
	if p.named != nil && (*p.names.Load())[namespace] {
		return p.named
	}
	return p.others
}

// rename changes the result of in. Callers take turns.
func (p *informerSet) rename(namespace string, added bool) {
	names := maps.Clone(*p.names.Load())
	if added {
		names[namespace] = true
	} else {
		delete(names, namespace)
	}
	p.names.Store(&names)
}

// newSingle makes one informer, of a namespace or of all for "".
func (r *kindReader) newSingle(namespace string, config watchConfig) (*informerSet, error) {
	src, err := r.source(namespace, config)
	if err != nil {
		return nil, err
	}
	settings := kindSettings{config: config}
	i, err := informer.New(src, r.options(src.String(), config.SyncPeriod)...)
	if err != nil {
		return nil, err
	}
	p, err := r.newKindInformer(i, settings)
	if err != nil {
		return nil, err
	}
	return &informerSet{all: []*kindInformer{p}, others: p}, nil
}

// newByNamespace makes an informer of namespaces, and another one if AllNamespaces is among them.
func (r *kindReader) newByNamespace(namespaces []string, settings kindSettings) (*informerSet, error) {
	made := &informerSet{}
	if slices.Contains(namespaces, cache.AllNamespaces) {
		config := settings.namespaces[cache.AllNamespaces]
		rest, err := r.newSingle(namespaceOf(config), config)
		if err != nil || len(namespaces) == 1 {
			return rest, err
		}
		made = rest
		namespaces = slices.DeleteFunc(slices.Clone(namespaces), func(one string) bool { return one == cache.AllNamespaces })
	}
	names := map[string]bool{}
	syncPeriod := settings.config.SyncPeriod
	for _, namespace := range namespaces {
		names[namespace] = true
		if own := settings.namespaces[namespace].SyncPeriod; own != nil && (syncPeriod == nil || *own < *syncPeriod) {
			syncPeriod = own
		}
	}
	made.names.Store(&names)
	i, err := r.informerIn(namespaces, syncPeriod, settings)
	if err != nil {
		return nil, err
	}
	if made.named, err = r.newKindInformer(i, settings); err != nil {
		return nil, err
	}
	made.all = append(made.all, made.named)
	return made, nil
}

// informerIn makes an informer of named namespaces, which may be none.
func (r *kindReader) informerIn(namespaces []string, syncPeriod *time.Duration, settings kindSettings) (*informer.SharedIndexInformer[object.Object], error) {
	none := len(namespaces) == 0
	if none {
		namespaces = []string{placeholder}
	}
	i, err := informer.NewIn(func(namespace string) (source.Source[object.Object], error) {
		return r.source(namespace, settings.in(namespace))
	}, namespaces, r.options(resourceName(r.resource), syncPeriod)...)
	if err == nil && none {
		// nothing runs, so this waits for nothing
		err = i.RemoveNamespace(context.Background(), placeholder)
	}
	return i, err
}

// placeholder is a namespace removed before it is read, since an informer is made of one or more.
const placeholder = "none"
