// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// itemContext is the context of one reconcile. It makes the logger, which costs more than all else
// around a reconcile, only for those who ask for it.
type itemContext struct {
	context.Context // the run's, or one with a deadline
	run             *run
	key             object.Key
	writes          writes
	crashes         bool // a panic ends the process
}

func (c *itemContext) Value(key any) any {
	switch {
	case key == writesKey{}:
		return &c.writes
	case key == c.run.loggerKey && key != nil:
		return c.run.logger.WithValues("key", textOf(c.key))
	}
	return c.Context.Value(key)
}

// writes are the tokens that Wrote was called with during a reconcile.
type writes struct {
	mu     sync.Mutex     // mu guards what follows
	tokens []object.Token // each once
}

// writesKey is the key under which the context of a reconcile has its *writes.
type writesKey struct{}

// Wrote tells the controller of a write of the reconcile that ctx belongs to. The next reconcile of
// the key begins after the informers of the controller have seen the write, or Options.AwaitTimeout
// has passed, whatever this one returns, also after a panic. So it doesn't do its work twice
// because it reads a state from before its own write. Meanwhile the key occupies no worker. The
// informers are those of the watches and of Options.Reads. Tokens of a resource or a namespace that
// none of them reads don't count, and neither does the zero Token.
//
// If ctx, or a context that it was made from, is not that of a reconcile, or the reconcile has
// returned, Wrote does nothing. It is made to be writer.Options.OnWrite:
//
//	options := writer.Options{OnWrite: controller.Wrote}
//	widgets, err := writer.New[*Widget](client, resource, options)
//
// What other clients have written has its token from [object.TokenOf].
func Wrote(ctx context.Context, token object.Token) {
	if w, ok := ctx.Value(writesKey{}).(*writes); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !slices.Contains(w.tokens, token) {
			w.tokens = append(w.tokens, token)
		}
	}
}

// all returns the tokens of all writes until now.
func (w *writes) all() []object.Token {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tokens
}

// keyFinder finds the key under which contexts have their logger: it notes what it is asked for.
type keyFinder struct {
	context.Context
	key any
}

func (f *keyFinder) Value(key any) any {
	f.key = key
	return nil
}

// loggerKey returns the key under which klog and logr look for the logger of a context; nil if
// contextual logging is turned off.
func loggerKey() any {
	f := keyFinder{Context: context.Background()}
	klog.FromContext(&f)
	return f.key
}

// textOf returns a key for people.
func textOf(key object.Key) string { return fmt.Sprint(key) }
