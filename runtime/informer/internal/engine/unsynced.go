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

// syncGuard implements table.SyncState for an informer. Versions of the table keep it alive, so it
// drops its pointer to the informer at the first sync.
type syncGuard struct {
	informer atomic.Pointer[Informer] // nil once it has synced
	logged   atomic.Bool              // a read before the first sync was logged
}

// NotSynced returns an error that wraps ErrNotSynced, or nil if the table is complete. It doesn't
// wrap a server's error: NotFound for a resource would look like NotFound for an object.
func (g *syncGuard) NotSynced(namespace string) error {
	i := g.informer.Load()
	if i == nil {
		return nil
	}
	if i.initErr != nil {
		return fmt.Errorf("%w: %s could not be made: %v", ErrNotSynced, i.config.Name, i.initErr)
	}
	var missing []string
	if i.AwaitsNamespaces() {
		line, _ := i.describeNamespaces()
		missing = append(missing, line)
	}
	for _, s := range i.streams() {
		if !s.HasSynced() && (namespace == "" || s.Namespace() == "" || s.Namespace() == namespace) {
			line, _ := i.describeStream(s)
			missing = append(missing, line)
		}
	}
	switch {
	case missing == nil:
		return nil
	case !i.Running():
		missing = append(missing, "a factory's Start runs only informers made before it")
	}
	return fmt.Errorf("%w: %s", ErrNotSynced, strings.Join(missing, "; "))
}

// Missed logs the first read that can't return an error.
func (g *syncGuard) Missed(namespace string) {
	i := g.informer.Load()
	if i == nil || g.logged.Load() || i.waitsForResource() {
		return
	}
	if err := g.NotSynced(namespace); err != nil && g.logged.CompareAndSwap(false, true) {
		logger := klog.Background()
		if i.config.Logger != nil {
			logger = *i.config.Logger
		}
		logger.Error(err, "An informer was read before its first sync, so its objects seem not to exist", "informer", i.config.Name)
	}
}
