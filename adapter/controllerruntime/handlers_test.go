// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"testing"
	"testing/synctest"
	"time"

	clientcache "k8s.io/client-go/tools/cache"
)

// delayedInformer is an informer. Its handlers sync after a delay.
type delayedInformer struct {
	clientcache.SharedIndexInformer
	synced bool
	delay  time.Duration
}

func (s delayedInformer) HasSynced() bool { return s.synced }

func (s delayedInformer) AddEventHandlerWithOptions(clientcache.ResourceEventHandler, clientcache.HandlerOptions) (clientcache.ResourceEventHandlerRegistration, error) {
	done := make(chan struct{})
	time.AfterFunc(s.delay, func() { close(done) })
	return delayedHandler{done: done}, nil
}

type delayedHandler struct {
	clientcache.ResourceEventHandlerRegistration
	done chan struct{}
}

func (h delayedHandler) Synced() <-chan struct{} { return h.done }

// TestAddHandlerWaitsBriefly: AddEventHandler waits, for a short time, until the handler has the
// present objects.
func TestAddHandlerWaitsBriefly(t *testing.T) {
	for _, test := range []struct {
		synced      bool
		delay, want time.Duration
	}{
		{false, time.Minute, 0},
		{true, 0, 0},
		{true, 3 * time.Millisecond, 3 * time.Millisecond},
		{true, time.Minute, maxHandlerWait},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			if _, err := (promptInformer{delayedInformer{synced: test.synced, delay: test.delay}}).AddEventHandler(nil); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took != test.want {
				t.Errorf("AddEventHandler with synced %v and a delay of %v took %v, want %v", test.synced, test.delay, took, test.want)
			}
			time.Sleep(time.Minute) // until the informer's timer has fired
		})
	}
}
