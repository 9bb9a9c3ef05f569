// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"testing"
	"testing/synctest"
	"time"

	clientcache "k8s.io/client-go/tools/cache"
)

// stub is an informer whose handlers have got the initial objects after a delay.
type stub struct {
	clientcache.SharedIndexInformer
	synced bool
	delay  time.Duration
}

func (s stub) HasSynced() bool { return s.synced }

func (s stub) AddEventHandlerWithOptions(clientcache.ResourceEventHandler, clientcache.HandlerOptions) (clientcache.ResourceEventHandlerRegistration, error) {
	done := make(chan struct{})
	time.AfterFunc(s.delay, func() { close(done) })
	return stubHandler{done: done}, nil
}

type stubHandler struct {
	clientcache.ResourceEventHandlerRegistration
	done chan struct{}
}

func (h stubHandler) Synced() <-chan struct{} { return h.done }

// TestAddingAHandlerWaitsALittle until it has got the objects that there are.
func TestAddingAHandlerWaitsALittle(t *testing.T) {
	for _, test := range []struct {
		synced      bool
		delay, want time.Duration
	}{
		{false, time.Minute, 0},
		{true, 0, 0},
		{true, 3 * time.Millisecond, 3 * time.Millisecond},
		{true, time.Minute, promptness},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			if _, err := (prompt{stub{synced: test.synced, delay: test.delay}}).AddEventHandler(nil); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took != test.want {
				t.Errorf("synced %v, after %v: it took %v, want %v", test.synced, test.delay, took, test.want)
			}
			time.Sleep(time.Minute) // for the timer of the stub
		})
	}
}
