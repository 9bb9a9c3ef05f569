// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"context"
	"fmt"
)

// ListOptions configure a list. The zero value lists everything at the cache's version.
type ListOptions struct {
	Filter Filter
	// NotOlderThan is the list's minimum version; 0 means any.
	NotOlderThan uint64
	// Exact, if not 0, is the list's version. NotOlderThan is ignored then.
	Exact uint64
	// Limit is the maximum number of objects; 0 means no limit.
	Limit int
	// From is the key at which the list begins, whether or not it has an object: the previous
	// page's Continue. For pages of one state, set Exact to its Version.
	From string
}

// List is a list of objects, or a page of one.
type List struct {
	// Version is the version of the list; equal to Exact if that was set.
	Version uint64
	// Objects are the selected objects, ordered by key.
	Objects []*Object
	// Continue is the From of the next page, right behind the last object's key, if the page is
	// full and more objects follow; otherwise "". As in API servers, none of those need be
	// selected.
	Continue string
	// Remaining is the number of objects after the last one; -1 means unknown, because the list has
	// selectors.
	Remaining int
}

// Get returns the object under key, or nil, in a state at least as new as version notOlderThan; 0
// means any state. Errors are those of WaitUntilFresh.
func (c *Cache) Get(ctx context.Context, key string, notOlderThan uint64) (*Object, error) {
	h, err := c.freshHead(ctx, notOlderThan)
	if err != nil {
		return nil, err
	}
	c.gets.Add(1)
	return h.state.get(key), nil
}

// List returns the selected objects. Besides the errors of WaitUntilFresh, it returns an
// [ExpiredError] if Exact is no longer in the log, and an error if the filter's Shard is malformed.
func (c *Cache) List(ctx context.Context, o ListOptions) (*List, error) {
	f, err := o.Filter.compile()
	if err != nil {
		return nil, fmt.Errorf("listing: %w", err)
	}
	version := o.NotOlderThan
	if o.Exact != 0 {
		version = o.Exact
	}
	h, err := c.freshHead(ctx, version)
	if err != nil {
		return nil, err
	}
	if o.Exact != 0 && o.Exact != h.version {
		if h, err = c.stateAt(o.Exact); err != nil {
			return nil, err
		}
	}
	c.lists.Add(1)
	return h.list(f, o), nil
}

func (c *Cache) stateAt(version uint64) (*head, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.log.check(version); err != nil {
		return nil, err
	}
	return &head{version, c.log.changeAt(version).state}, nil
}

func (h *head) list(f *filter, o ListOptions) *List {
	l := &List{Version: h.version}
	from, to := f.bounds()
	remaining := h.state.countBetween(max(from, o.From), to)
	if f.dependsOnContent() || f.shard != nil || f.name != "" || f.matchesNothing {
		l.Remaining = -1
	} else {
		size := remaining
		if o.Limit > 0 {
			size = min(size, o.Limit)
		}
		l.Objects = make([]*Object, 0, size)
	}
	isFull := func() bool { return o.Limit > 0 && len(l.Objects) == o.Limit }
	h.state.scan(f, o.From, func(obj *Object) bool {
		if f.matches(obj) {
			l.Objects = append(l.Objects, obj)
		}
		return !isFull()
	})
	if isFull() {
		next := l.Objects[o.Limit-1].Key + "\x00" // the next possible key
		if f.name != "" && o.From != "" {
			to = f.namespaceEnd() // when a list continues, an API server treats a name as a filter
		}
		if h.state.countBetween(next, to) > 0 {
			l.Continue = next
		}
	}
	if l.Remaining == 0 {
		l.Remaining = remaining - len(l.Objects)
	}
	return l
}

// bounds returns a range of keys that includes all selected objects. It ends before to; "" means no
// end.
func (c *filter) bounds() (from, to string) {
	switch {
	case c.namespace == "":
		return "", ""
	case c.name != "":
		key := c.namespace + "/" + c.name
		return key, key + "\x00"
	}
	return c.namespace + "/", c.namespaceEnd()
}

func (c *filter) namespaceEnd() string {
	if c.namespace == "" {
		return ""
	}
	return c.namespace + "0" // the character after the slash
}
