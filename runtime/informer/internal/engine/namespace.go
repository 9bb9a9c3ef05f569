// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
)

// AddNamespace adds a stream, which begins at once if the informer runs. It does nothing if there
// is one of this namespace. It waits until the batch that is being applied is done.
//
// A stream that is added after the first run has begun is late: Synced does not wait for it, and
// its first full state is logged.
func (i *Informer) AddNamespace(namespace string) error {
	if i.broken != nil {
		return i.broken
	}
	if err := i.addNamespace(namespace); err != nil {
		return fmt.Errorf("informer %s: AddNamespace: %w", i.config.Name, err)
	}
	return nil
}

func (i *Informer) addNamespace(namespace string) error {
	switch {
	case namespace == "":
		return errors.New(`"" means all namespaces, so it can't be added to others`)
	case !i.hasNamespaces():
		return errNoNamespaces
	}
	src, err := i.config.SourceIn(namespace)
	if err != nil {
		return err
	}
	i.writing.Lock()
	defer i.writing.Unlock()
	if i.streamOf(namespace) != nil {
		return nil
	}
	s := newStream(i, Stream{Namespace: namespace, Source: src})
	if err := i.connect(s); err != nil {
		return err
	}
	txn := i.table.Begin()
	i.divide(txn)
	txn.SetNamespaceResourceVersion(namespace, "")

	i.mu.Lock()
	defer i.mu.Unlock()
	txn.Publish()
	s.late = i.ran
	i.setStreams(append(slices.Clip(i.streams()), s))
	if !i.config.EmptyBeforeSync {
		i.gap.informer.Store(i)
	}
	if r := i.run; r != nil {
		r.addUnsyncedLocked(s)
		if r.open {
			s.beginLocked(r)
			r.wg.Go(func() { s.read(r) })
		}
	}
	return nil
}

var errNoNamespaces = errors.New("the informer has no list of namespaces; NewIn makes one that has, and so does a factory, with WithNamespace")

// hasNamespaces reports whether namespaces can be added and removed.
func (i *Informer) hasNamespaces() bool {
	return i.config.SourceIn != nil && i.config.Streams[0].Namespace != ""
}

// divide gives each namespace a resourceVersion of its own in the table. Informer.writing is held,
// or no other goroutine has the informer.
func (i *Informer) divide(txn table.Txn) {
	if i.divided {
		return
	}
	i.divided = true
	version := i.table.Version().ResourceVersion()
	for _, s := range i.streams() {
		txn.SetNamespaceResourceVersion(s.namespace, version)
	}
}

// RemoveNamespace removes the stream of a namespace, with its objects from the table, which are
// logged as deletions with an unknown final state. Then it waits until the goroutines of the stream
// have ended, or ctx is done. It does nothing if there is no such stream.
func (i *Informer) RemoveNamespace(ctx context.Context, namespace string) error {
	if i.broken != nil {
		return i.broken
	}
	fail := func(err error) error {
		return fmt.Errorf("informer %s: RemoveNamespace: %w", i.config.Name, err)
	}
	switch {
	case ctx == nil:
		return fail(errors.New("the context is nil"))
	case !i.hasNamespaces():
		return fail(errNoNamespaces)
	}
	s, panics := i.remove(namespace)
	if s == nil {
		return nil
	}
	logger := klog.FromContext(ctx)
	if i.config.Logger != nil {
		logger = *i.config.Logger
	}
	i.report(logger, panics)
	select {
	case <-s.ended:
		return nil
	default:
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fail(fmt.Errorf("%w: the Source of %s, or a function that its reader calls, has not returned", context.Cause(ctx), s.name()))
	}
}

// remove removes a stream, and returns it, or nil if there is none. The stream's goroutines may go
// on for a while, but they change nothing.
func (i *Informer) remove(namespace string) (*stream, []indexPanic) {
	i.writing.Lock()
	s := i.streamOf(namespace)
	if s == nil {
		i.writing.Unlock()
		return nil, nil
	}
	w := &batchWriter{stream: s}
	panics := i.commitRemoval(w)
	w.publication.pace(nil, w.laggards)
	return s, panics
}

// commitRemoval deletes the stream's objects and publishes that it is removed, in one step, and
// unlocks Informer.writing. If an index function calls runtime.Goexit, the stream stays.
func (i *Informer) commitRemoval(w *batchWriter) (panics []indexPanic) {
	defer i.writing.Unlock()
	w.txn = i.table.Begin()
	defer w.reset()
	i.panics = nil
	w.txn.StartReplace()
	w.changes = w.sweep()
	w.txn.DropNamespaceResourceVersion(w.namespace)
	w.publishRemoval()
	return i.panics
}

func (w *batchWriter) publishRemoval() {
	i, s := w.informer, w.stream
	i.mu.Lock()
	defer i.mu.Unlock()
	w.txn.Publish()
	i.setStreams(slices.DeleteFunc(slices.Clone(i.streams()), func(other *stream) bool { return other == s }))
	s.removed, s.ended = true, make(chan struct{})
	i.leaving = append(i.leaving, s)
	if s.cancel != nil {
		s.cancel()
	}
	s.endLocked()
	s.dropWaitersLocked()
	w.logLocked(true)
	if i.run != nil {
		i.run.syncedLocked(s)
	}
	i.checkSyncedLocked()
}
