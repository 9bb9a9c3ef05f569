// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"time"

	clientcache "k8s.io/client-go/tools/cache"
)

// promptInformer is an informer whose handlers are mostly up to date on return: if it has synced,
// adding a handler waits a little until the handler has got the objects. The sources of controllers
// check that as soon as they have added theirs, and then each 100 ms.
type promptInformer struct {
	clientcache.SharedIndexInformer
}

// maxHandlerWait bounds the wait for an added handler, which may be slow.
const maxHandlerWait = 100 * time.Millisecond

func (p promptInformer) AddEventHandler(handler clientcache.ResourceEventHandler) (clientcache.ResourceEventHandlerRegistration, error) {
	return p.AddEventHandlerWithOptions(handler, clientcache.HandlerOptions{})
}

func (p promptInformer) AddEventHandlerWithResyncPeriod(handler clientcache.ResourceEventHandler, period time.Duration) (clientcache.ResourceEventHandlerRegistration, error) {
	return p.AddEventHandlerWithOptions(handler, clientcache.HandlerOptions{ResyncPeriod: &period})
}

func (p promptInformer) AddEventHandlerWithOptions(handler clientcache.ResourceEventHandler, options clientcache.HandlerOptions) (clientcache.ResourceEventHandlerRegistration, error) {
	added, err := p.SharedIndexInformer.AddEventHandlerWithOptions(handler, options)
	if err != nil || !p.HasSynced() {
		return added, err
	}
	timer := time.NewTimer(maxHandlerWait)
	defer timer.Stop()
	select {
	case <-syncedOf(added):
	case <-timer.C:
	}
	return added, nil
}

// syncedOf returns a channel that is closed when a handler of an informer of package clientgo has
// got the initial objects, like HasSyncedChecker, which older versions lack.
func syncedOf(r clientcache.ResourceEventHandlerRegistration) <-chan struct{} {
	return r.(interface{ Synced() <-chan struct{} }).Synced()
}
