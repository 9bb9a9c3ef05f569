// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func (c *collection) list(ctx context.Context, q query) (*Page, *metav1.Status) {
	h := c.present()
	o := watchcache.ListOptions{Filter: q.filter(), Limit: int(q.Limit), From: q.From, NotOlderThan: q.State.Version}
	if q.State.Match == request.Exactly {
		o.Exact = q.State.Version
		c.server.mu.Lock()
		expired := o.Exact < h.oldest
		c.server.mu.Unlock()
		if expired {
			return nil, refusal(q.Expired())
		}
	}
	found, err := h.cache.List(ctx, o)
	if err != nil {
		return nil, refusal(err)
	}
	page := &Page{ResourceVersion: format(found.Version)}
	page.APIVersion, page.Kind = c.kindOf(q.Partial).ToAPIVersionAndKind()
	page.Kind += "List"
	if found.Continue != "" {
		page.Continue = q.Next(int64(found.Version), found.Continue)
		if q.Labels.Empty() && q.Fields.Empty() {
			page.remaining = new(int64(found.Remaining))
		}
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, o := range found.Objects {
		page.Items = append(page.Items, c.out(h.objects[o.Version], q.Partial))
	}
	return page, nil
}
