// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"
)

// itemContext is the context of one reconcile. It makes the logger, which costs more than all else
// around a reconcile, only for those who ask for it.
type itemContext[K comparable] struct {
	context.Context // the run's, or one with a deadline
	run             *run[K]
	key             K
}

func (c *itemContext[K]) Value(key any) any {
	if key == c.run.loggerKey && key != nil {
		return c.run.logger.WithValues("key", textOf(c.key))
	}
	return c.Context.Value(key)
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
func textOf[K comparable](key K) string { return fmt.Sprint(key) }
