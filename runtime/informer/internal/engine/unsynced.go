// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/klog/v2"
)

// ErrNotSynced is wrapped by the error of a read that finds nothing before the first sync.
var ErrNotSynced = errors.New("the informer has not synced")

// gap implements table.SyncState for an informer. Versions of the table keep it alive, so it drops
// its pointer to the informer at the first sync.
type gap struct {
	informer atomic.Pointer[Informer] // nil once it has synced
	logged   atomic.Bool              // a read before the first sync was logged
}

// NotSynced returns an error that wraps ErrNotSynced, or nil if the table is complete. It doesn't
// wrap a server's error: NotFound for a resource would look like NotFound for an object.
func (g *gap) NotSynced(namespace string) error {
	i := g.informer.Load()
	if i == nil {
		return nil
	}
	if i.broken != nil {
		return fmt.Errorf("%w: %s could not be made: %v", ErrNotSynced, i.config.Name, i.broken)
	}
	var missing []string
	for _, s := range i.streams() {
		if !s.HasSynced() && (namespace == "" || s.Namespace() == "" || s.Namespace() == namespace) {
			why, _ := i.unsyncedStream(s)
			missing = append(missing, why)
		}
	}
	switch {
	case missing == nil:
		return nil
	case !i.Claimed():
		missing = append(missing, "a factory's Start runs those that were made before it")
	}
	return fmt.Errorf("%w: %s", ErrNotSynced, strings.Join(missing, "; "))
}

// Missed logs the first read that can't return an error.
func (g *gap) Missed(namespace string) {
	i := g.informer.Load()
	if i == nil || g.logged.Load() {
		return
	}
	if err := g.NotSynced(namespace); err != nil && g.logged.CompareAndSwap(false, true) {
		logger := klog.Background()
		if i.config.Logger != nil {
			logger = *i.config.Logger
		}
		logger.Error(err, "An informer was read before its first sync: what it lacks looks as if it did not exist", "informer", i.config.Name)
	}
}
