// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
)

// AddNamespace implements informer.SharedIndexInformer.AddNamespace.
func (in *Intake) AddNamespace(namespace string) error {
	if namespace == "" {
		return errors.New(`"" means all namespaces, so it can't be added to others`)
	}
	if err := in.checkChangeable(); err != nil {
		return err
	}
	src, err := in.config.SourceIn(namespace)
	if err != nil {
		return err
	}
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	if in.StreamOf(namespace) != nil {
		return nil
	}
	return in.add(StreamConfig{Namespace: namespace, Source: src})
}

// add adds streams of new namespaces, in one step. writeMu is held.
func (in *Intake) add(configs ...StreamConfig) error {
	var added []*Stream
	for _, c := range configs {
		s, err := in.newStream(c)
		if err != nil {
			return err
		}
		added = append(added, s)
	}
	txn := in.table.Begin()
	in.splitVersion(txn)
	for _, s := range added {
		txn.SetNamespaceResourceVersion(s.namespace, "")
	}
	in.config.Publish(Publication{Added: added, txn: txn, setStreams: func() { in.addStreams(added...) }})
	if in.run != nil {
		for _, s := range added {
			s.begin(in.run, in.queue, in.startLimitFor(len(in.Streams())))
		}
	}
	return nil
}

var (
	errNoNamespaces = errors.New("the informer was not made for a list of namespaces; make it with NewIn, or with WithNamespace in a factory")
	errPart         = errors.New("the informer reads the namespaces and buckets of its ring; make one without WithRing")
	errSelected     = errors.New("the informer reads the namespaces that match its WithNamespaceSelector; change the namespace's labels, or make the informer with WithNamespace")
)

// checkChangeable returns an error unless the caller may add and remove namespaces.
func (in *Intake) checkChangeable() error {
	switch {
	case in.config.Partition != nil:
		return errPart
	case in.config.Selected:
		return errSelected
	case in.config.SourceIn == nil || in.config.Streams[0].Namespace == "":
		return errNoNamespaces
	}
	return nil
}

// SetNamespaces makes these the namespaces to read: it removes the streams of others, with their
// objects, and adds streams. It waits for handlers that lag, but not for the end of removed
// streams' readers. It ends the run if it can't go on. Calls take turns.
func (in *Intake) SetNamespaces(r *Run, namespaces map[string]struct{}) {
	in.endOnError(r, func() error {
		in.writeMu.Lock()
		in.wanted = nil
		in.writeMu.Unlock()
		return in.setNamespaces(r, namespaces)
	})
}

// endOnError ends the run if set fails, or ends its goroutine.
func (in *Intake) endOnError(r *Run, set func() error) {
	err := in.goexitError(in.config.Name) // if an index function ends this goroutine
	defer func() {
		if err != nil {
			r.Fail(err)
		}
	}()
	err = set()
}

func (in *Intake) setNamespaces(r *Run, namespaces map[string]struct{}) error {
	missing := maps.Clone(namespaces)
	for _, s := range in.Streams() {
		if _, ok := namespaces[s.namespace]; !ok {
			_, panics, wait := in.remove(s.namespace)
			in.report(r.Logger, panics)
			if wait != nil {
				wait(r.Ctx.Done())
			}
		}
		delete(missing, s.namespace)
	}
	if len(missing) == 0 {
		return nil
	}
	var configs []StreamConfig
	for _, namespace := range slices.Sorted(maps.Keys(missing)) {
		src, err := in.config.SourceIn(namespace)
		if err != nil {
			return fmt.Errorf("informer %s: %w", in.config.Name, err)
		}
		configs = append(configs, StreamConfig{Namespace: namespace, Source: src})
	}
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	return in.add(configs...)
}

// splitVersion gives each namespace a resourceVersion of its own in the table.
func (in *Intake) splitVersion(txn table.Txn) {
	if in.versionPerNamespace {
		return
	}
	in.versionPerNamespace = true
	version := in.table.Version().ResourceVersion()
	for _, s := range in.Streams() {
		txn.SetNamespaceResourceVersion(s.namespace, version)
	}
}

// RemoveNamespace implements informer.SharedIndexInformer.RemoveNamespace.
func (in *Intake) RemoveNamespace(ctx context.Context, logger klog.Logger, namespace string) error {
	if err := in.checkChangeable(); err != nil {
		return err
	}
	s, panics, wait := in.remove(namespace)
	if s == nil {
		return nil
	}
	in.report(logger, panics)
	if wait != nil {
		wait(ctx.Done())
	}
	if s.ended == nil {
		return nil // it was never read
	}
	select {
	case <-s.ended:
		return nil
	default:
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the Source of %s, or a function that its reader calls, has not returned", context.Cause(ctx), s.Name())
	}
}

// remove removes a stream and its objects, in one step, and returns it; nil if there is none. The
// reader may go on for a while, without effect. If an index function calls runtime.Goexit, the
// stream stays.
func (in *Intake) remove(namespace string) (_ *Stream, _ []indexPanic, wait func(over <-chan struct{})) {
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	s := in.StreamOf(namespace)
	if s == nil {
		return nil, nil, nil
	}
	b := batchWriter{stream: s, txn: in.table.Begin()}
	defer b.txn.Discard() // does nothing after Publish
	in.panics = nil
	b.txn.StartReplace()
	changes := b.sweep()
	b.txn.DropNamespaceResourceVersion(namespace)
	wait = in.config.Publish(Publication{Stream: s, Changes: changes, Full: true, Removed: true, txn: b.txn, setStreams: func() {
		s.removed.Store(true)
		in.removeStream(s)
	}})
	if s.cancel != nil {
		s.cancel()
	}
	return s, in.panics, wait
}
