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

// itemContext is the context of one reconcile. It makes the logger, the most expensive part around
// a reconcile, only on request.
type itemContext struct {
	context.Context // the run's, or one with a deadline
	run             *run
	key             object.Key
	writes          writes
	bucket          int32 // of the key, with Options.Ring
	crashes         bool  // a panic ends the process
	handedOver      bool  // the key goes to another replica
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

// writes are the tokens passed to Wrote during a reconcile.
type writes struct {
	mu     sync.Mutex     // mu guards the field below
	tokens []object.Token // each once
}

type writesKey struct{}

// Wrote tells the controller about a write made by ctx's reconcile. Whatever this reconcile
// returns, even if it panics, the next one of the key begins after the controller's informers have
// seen the write, or after Options.AwaitTimeout. The informers are those of the watches and of
// Options.Reads. Tokens of a resource or namespace that none of them reads are ignored, and so is
// the zero Token.
//
// Wrote does nothing if ctx doesn't descend from a reconcile's context, or the reconcile has
// returned. It fits writer.Options.OnWrite:
//
//	options := writer.Options{OnWrite: controller.Wrote}
//	widgets, err := writer.New[*Widget](client, resource, options)
//
// For writes by other clients, [object.TokenOf] returns the token.
func Wrote(ctx context.Context, token object.Token) {
	if w, ok := ctx.Value(writesKey{}).(*writes); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !slices.Contains(w.tokens, token) {
			w.tokens = append(w.tokens, token)
		}
	}
}

func (w *writes) all() []object.Token {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tokens
}

// keyFinder finds the context key of loggers: it records the key it is asked for.
type keyFinder struct {
	context.Context
	key any
}

func (f *keyFinder) Value(key any) any {
	f.key = key
	return nil
}

// loggerKey returns the context key of klog's and logr's loggers, or nil if contextual logging is
// turned off.
func loggerKey() any {
	f := keyFinder{Context: context.Background()}
	klog.FromContext(&f)
	return f.key
}

func textOf(key object.Key) string { return fmt.Sprint(key) }
