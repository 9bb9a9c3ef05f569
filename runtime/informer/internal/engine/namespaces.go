// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
)

// followNamespaces keeps Config.Namespaces running, and reads the namespaces it has, until the run
// is over. It compares whole sets, so a namespace that was away for a moment stays.
func (i *Informer) followNamespaces(r *run, intakeRun *intake.Run) {
	namespaces := i.config.Namespaces
	lease, err := namespaces.Acquire(r.ctx)
	if err != nil {
		return // the run is over
	}
	defer func() { <-lease.Done() }()
	for r.ctx.Err() == nil {
		changed := namespaces.Changed() // before looking
		if lease.HasSynced() {
			i.intake.SetNamespaces(intakeRun, namespaces.names())
			i.setSelected(r)
		}
		select {
		case <-changed:
		case <-lease.Done(): // the run is over, or Namespaces has failed
			r.cancel(lease.cause)
		}
	}
}

// names returns the names of the stored objects.
func (i *Informer) names() map[string]struct{} {
	version := i.table.Version()
	names := make(map[string]struct{}, version.Len())
	for obj := range version.All {
		names[obj.GetName()] = struct{}{}
	}
	return names
}

// setSelected notes that the streams are those of Config.Namespaces or Config.Ring.
func (i *Informer) setSelected(r *run) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.selected && !r.awaitsNamespaces {
		return
	}
	i.selected, r.awaitsNamespaces = true, false
	r.checkSyncedLocked()
	i.checkSyncedLocked()
}

// AwaitsNamespaces reports whether the informer waits for Config.Namespaces or Config.Ring to know
// what to read.
func (i *Informer) AwaitsNamespaces() bool { return (&Wait{Informer: i}).awaitsNamespaces() }

// awaitsNamespaces reports whether the informer, or the lease's run, doesn't know yet what to read.
func (w *Wait) awaitsNamespaces() bool {
	i := w.Informer
	i.mu.Lock()
	defer i.mu.Unlock()
	if w.Lease != nil {
		return w.Lease.run.awaitsNamespaces
	}
	return i.config.selects() && !i.selected
}

// describeNamespaces returns a line about an informer that doesn't know yet what to read, and the
// last error, if any.
func (i *Informer) describeNamespaces() (line string, last error) {
	if !i.Running() {
		return i.config.Name + " is not running", nil
	}
	namespaces := i.config.Namespaces
	if namespaces == nil {
		return i.config.Name + " begins to read its part of the ring", nil
	}
	why, last := namespaces.whyUnsynced(namespaces.streams()[0])
	return fmt.Sprintf("%s waits for %s: %s", i.config.Name, namespaces.config.Name, why), last
}

// awaitFirstSync waits until an informer that selects its streams has synced; streams may be
// missing before.
func (i *Informer) awaitFirstSync(ctx context.Context) error {
	if !i.config.selects() {
		return nil
	}
	select {
	case <-i.synced:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
