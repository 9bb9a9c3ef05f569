// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"context"
	"fmt"
)

// ListOptions are the settings of a list. The zero value lists everything at the cache's version.
type ListOptions struct {
	Filter Filter
	// NotOlderThan is the oldest version that the list may have; 0 means any.
	NotOlderThan uint64
	// Exact is the version that the list must have, if it isn't 0. NotOlderThan isn't used then.
	Exact uint64
	// Limit is how many objects the list may have; 0 means any number.
	Limit int
	// From is the key at which the list begins, or the next one if there is no such object: the
	// Continue of the page before. For pages of one state, Exact must be the Version of that page.
	From string
}

// List is the answer to a list.
type List struct {
	// Version is the version of the list. It is Exact if that was asked for.
	Version uint64
	// Objects are the selected objects, in the order of their keys.
	Objects []*Object
	// Continue is where the next page begins, right behind the key of the last object, if the page
	// is full and objects follow, else "". As with API servers, none of those need be selected.
	Continue string
	// Remaining is how many objects come after the last one. It is -1 if that isn't known, because
	// the list has selectors.
	Remaining int
}

// Get returns the object under key at a version that isn't older than notOlderThan, and nil if
// there is none. 0 means at any version. Errors are those of WaitUntilFresh.
func (c *Cache) Get(ctx context.Context, key string, notOlderThan uint64) (*Object, error) {
	h, err := c.fresh(ctx, notOlderThan)
	if err != nil {
		return nil, err
	}
	c.gets.Add(1)
	return h.state.get(key), nil
}

// List returns the objects that the options select. Besides the errors of WaitUntilFresh, it
// returns an [ExpiredError] if Exact is a version that isn't in the log any more, and one if the
// filter's Shard is malformed.
func (c *Cache) List(ctx context.Context, o ListOptions) (*List, error) {
	f, err := o.Filter.compile()
	if err != nil {
		return nil, fmt.Errorf("listing: %w", err)
	}
	version := o.NotOlderThan
	if o.Exact != 0 {
		version = o.Exact
	}
	h, err := c.fresh(ctx, version)
	if err != nil {
		return nil, err
	}
	if o.Exact != 0 && o.Exact != h.version {
		if h, err = c.exact(o.Exact); err != nil {
			return nil, err
		}
	}
	c.lists.Add(1)
	return h.list(f, o), nil
}

// exact returns the state at a version that the cache has passed.
func (c *Cache) exact(version uint64) (*head, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.log.check(version); err != nil {
		return nil, err
	}
	return &head{version, c.log.through(version).state}, nil
}

func (h *head) list(f *filter, o ListOptions) *List {
	l := &List{Version: h.version}
	from, to := f.bounds()
	left := h.state.between(max(from, o.From), to)
	if f.selective() || f.shard != nil || f.name != "" || f.none {
		l.Remaining = -1
	} else {
		size := left
		if o.Limit > 0 {
			size = min(size, o.Limit)
		}
		l.Objects = make([]*Object, 0, size)
	}
	full := func() bool { return o.Limit > 0 && len(l.Objects) == o.Limit }
	h.state.from(f, o.From, func(obj *Object) bool {
		if f.matches(obj) {
			l.Objects = append(l.Objects, obj)
		}
		return !full()
	})
	if full() {
		next := l.Objects[o.Limit-1].Key + "\x00" // the next key that is possible
		if f.name != "" && o.From != "" {
			to = f.namespaceEnd() // in a list that goes on, an API server takes a name for a filter
		}
		if h.state.between(next, to) > 0 {
			l.Continue = next
		}
	}
	if l.Remaining == 0 {
		l.Remaining = left - len(l.Objects)
	}
	return l
}

// bounds returns the range of keys in which all selected objects are. It ends before to, if to
// isn't "".
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

// namespaceEnd returns the end of the range of keys of the filter's namespace, or "" if it has
// none.
func (c *filter) namespaceEnd() string {
	if c.namespace == "" {
		return ""
	}
	return c.namespace + "0" // the character behind the slash
}
