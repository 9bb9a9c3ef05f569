// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
)

// AddNamespace implements informer.SharedIndexInformer.AddNamespace.
func (in *Intake) AddNamespace(namespace string) error {
	switch {
	case namespace == "":
		return errors.New(`"" means all namespaces, so it can't be added to others`)
	case !in.hasNamespaces():
		return errNoNamespaces
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
	s, err := in.newStream(StreamConfig{Namespace: namespace, Source: src})
	if err != nil {
		return err
	}
	txn := in.table.Begin()
	in.splitVersion(txn)
	txn.SetNamespaceResourceVersion(namespace, "")
	in.config.Publish(Publication{Stream: s, Added: true, txn: txn, setStreams: func() {
		in.setStreams(append(slices.Clip(in.Streams()), s), nil)
	}})
	if in.run != nil {
		s.begin(in.run, in.queue, in.startLimitFor(len(in.Streams())))
	}
	return nil
}

var errNoNamespaces = errors.New("the informer was not made for a list of namespaces; make it with NewIn, or with WithNamespace in a factory")

// hasNamespaces reports whether namespaces can be added and removed.
func (in *Intake) hasNamespaces() bool {
	return in.config.SourceIn != nil && in.config.Streams[0].Namespace != ""
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
	if !in.hasNamespaces() {
		return errNoNamespaces
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
		in.setStreams(slices.DeleteFunc(slices.Clone(in.Streams()), func(other *Stream) bool { return other == s }), s)
	}})
	if s.cancel != nil {
		s.cancel()
	}
	return s, in.panics, wait
}
