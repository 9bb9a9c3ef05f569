// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// WaitForCacheSync waits until the cache has started and the informers it has by then have synced.
// It does not wait for an informer with a lasting failure, such as a missing right; [Cache.Ready]
// names it. WaitForCacheSync returns false if ctx is done first, or if the cache ends.
func (c *Cache) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.until != nil {
		defer context.AfterFunc(c.until, cancel)()
	}
	return c.waitForSync(ctx) || c.until != nil && c.until.Err() != nil
}

func (c *Cache) waitForSync(ctx context.Context) bool {
	select {
	case <-c.started:
	case <-ctx.Done():
		return false
	}
	// c.ctx does not change any more
	for _, k := range c.kinds.Load().byKey {
		for _, p := range k.informerSet.all {
			if p.informer.HasSynced() {
				continue
			}
			// while nothing has ended, an error is a lasting failure
			_ = p.wait(ctx, k, informer.FailOn())
			if ctx.Err() != nil || c.ctx.Err() != nil {
				return false
			}
		}
	}
	return true
}

// Ready is a readiness check: [sigs.k8s.io/controller-runtime/pkg/healthz.Checker]. It fails until
// the cache has started and each of its informers has synced; the error names the others, and why.
// It reads only memory, and does not use the request, which may be nil.
func (c *Cache) Ready(*http.Request) error {
	if !isClosed(c.started) {
		return errors.New("not ready: the cache has not started")
	}
	all := 0
	var missing []string
	for _, k := range c.kinds.Load().byKey {
		for _, p := range k.informerSet.all {
			all++
			if s := p.informer.Status(); !s.Synced {
				missing = append(missing, unsynced(s))
			}
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("not ready: %d of %d informers have not synced: %s", len(missing), all, strings.Join(missing, "; "))
}

// unsynced returns why an informer has not synced, without the texts of errors.
func unsynced(s informer.Status) string {
	text := fmt.Sprintf("%s is %v", s.Name, s.Reflector.State)
	if r := s.Reflector.Reason; r != reason.None {
		text += fmt.Sprintf(" (%v)", r)
	}
	return text
}

// snapshot returns the objects of a namespace, or of all for "", once they have been read. With a
// ring, these are the objects of this process's buckets.
func (p *kindInformer) snapshot(ctx context.Context, k *kind, namespace string) (*store.Snapshot[object.Object], error) {
	// With a ring, namespaces come and go. A read doesn't wait for new ones.
	if p != k.informerSet.named || p.hasRing && namespace == "" {
		if !p.synced.Load() {
			if !p.informer.HasSynced() {
				if err := p.wait(ctx, k); err != nil {
					return nil, k.notSynced(err)
				}
			}
			p.synced.Store(true)
		}
		return p.store.Snapshot(), nil
	}
	s := p.store.Snapshot()
	if versionOf(s, namespace) != "" {
		return s, nil
	}
	if namespace == "" {
		if err := p.wait(ctx, k); err != nil {
			return nil, k.notSynced(err)
		}
		return p.store.Snapshot(), nil
	}
	if p.hasRing && !p.informer.HasSynced() {
		// Before it reads, the informer doesn't know its buckets. An error is that of ctx, or a
		// lasting failure, maybe in another namespace.
		_ = p.wait(ctx, k, informer.FailOn())
	}
	// A write at version 1 arrives with the first state of its namespace. Waiting for one waits for
	// no other namespace.
	err := p.until(ctx, k, func(ctx context.Context) error {
		return p.informer.AwaitToken(ctx, object.Token{Resource: p.informer.Resource(), Key: object.Key{Namespace: namespace, Name: "none"}, ResourceVersion: "1"})
	})
	s = p.store.Snapshot()
	if err != nil && (!p.hasRing || p.reads(namespace) && versionOf(s, namespace) == "") {
		return nil, k.notSynced(fmt.Errorf("%w; %s", err, p.informer.Status()))
	}
	return s, nil // with a ring, maybe of a namespace of another process
}

// reads reports whether the informer reads a namespace of its own.
func (p *kindInformer) reads(namespace string) bool {
	return slices.ContainsFunc(p.informer.Status().Streams, func(s informer.StreamStatus) bool { return s.Namespace == namespace })
}

// versionOf returns "" until the namespace, or for "" each one, has been read.
func versionOf(s *store.Snapshot[object.Object], namespace string) string {
	if namespace == "" {
		return s.ResourceVersion()
	}
	return s.NamespaceResourceVersion(namespace)
}

func (p *kindInformer) wait(ctx context.Context, k *kind, opts ...informer.WaitOption) error {
	return p.until(ctx, k, func(ctx context.Context) error { return p.informer.WaitForCacheSync(ctx, opts...) })
}

// until calls wait with a context that is also done when the kind has ended.
func (p *kindInformer) until(ctx context.Context, k *kind, wait func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(k.ctx, func() { cancel(errEnded) })()
	return wait(ctx)
}

var errEnded = errors.New("the informer has ended")

func (k *kind) notSynced(why error) error {
	return apierrors.NewTimeoutError(fmt.Sprintf("failed waiting for the informer of %s to sync: %v", k.gvk, why), 0)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
