// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// AddNamespace makes the cache read one more namespace, for all kinds that use the namespaces of
// cache.Options.DefaultNamespaces. The settings there for the namespace hold, or else those for the
// kind, or for all. Handlers get the objects as non-initial additions. AddNamespace does not wait
// for them; a read in the namespace does. Adding a namespace again does nothing.
//
// It returns an error if DefaultNamespaces is empty or has AllNamespaces, and if the namespace is
// no valid name. It must not be called by a transform or a watch error handler.
func (c *Cache) AddNamespace(namespace string) error {
	return c.changeNamespaces("AddNamespace", namespace, true, func(p *informerSet) error {
		if err := p.named.informer.AddNamespace(namespace); err != nil {
			return err
		}
		p.rename(namespace, true)
		return nil
	})
}

// RemoveNamespace makes the cache stop reading a namespace of cache.Options.DefaultNamespaces or
// AddNamespace. When it returns, reads of the namespace fail, and handlers get an OnDelete for each
// object they had, with an unknown final state. It waits until the requests for the namespace have
// ended. If ctx is done first, it removes the namespace nevertheless. Otherwise it is like
// AddNamespace.
func (c *Cache) RemoveNamespace(ctx context.Context, namespace string) error {
	return c.changeNamespaces("RemoveNamespace", namespace, false, func(p *informerSet) error {
		p.rename(namespace, false)
		return p.named.informer.RemoveNamespace(ctx, namespace)
	})
}

func (c *Cache) changeNamespaces(call, namespace string, added bool, change func(*informerSet) error) error {
	c.namespaceMu.Lock()
	defer c.namespaceMu.Unlock()
	kinds, err := c.rename(namespace, added)
	if err != nil {
		return fmt.Errorf("controllerruntime: %s: %w", call, err)
	}
	var errs []error
	for _, k := range kinds {
		if err := change(k.informerSet); err != nil {
			errs = append(errs, fmt.Errorf("controllerruntime: %s: %w", call, err))
		}
	}
	return errors.Join(errs...)
}

// rename adds a namespace for kinds still to be made, or removes it there. It returns the existing
// kinds.
func (c *Cache) rename(namespace string, added bool) ([]*kind, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.settings.others.follows:
		return nil, errors.New("the cache reads all namespaces, because cache.Options has no DefaultNamespaces")
	case slices.Contains(c.namespaces, cache.AllNamespaces):
		return nil, errors.New("the cache reads all namespaces, because DefaultNamespaces has AllNamespaces")
	}
	if problems := validation.IsDNS1123Label(namespace); problems != nil {
		return nil, fmt.Errorf("%q is no name of a namespace: %s", namespace, strings.Join(problems, "; "))
	}
	c.namespaces = slices.DeleteFunc(slices.Clone(c.namespaces), func(one string) bool { return one == namespace })
	if added {
		c.namespaces = append(c.namespaces, namespace)
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(c.kinds.Load().byKey)), func(k *kind) bool { return !k.follows }), nil
}
