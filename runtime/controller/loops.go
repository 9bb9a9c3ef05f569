// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	// hot is how many reconciles of a key in a row are a loop, if each was queued by what the last
	// one has written, and by nothing else, and has written the same object again. The steps of a
	// migration that records its progress look the same, so it is more than those usually are.
	hot = 1000
	// mostChains bounds the memory for keys that are never reconciled again.
	mostChains = 1000
	// mostVersions is how many events of a key are told apart between the ends of two reconciles.
	mostVersions = 8
)

// loops finds keys that are reconciled again and again only because of what their reconciles write.
// It knows the keys whose last reconcile has returned tokens.
//
//	reconcile of K ─ token: O at 7 ─▶ event: O at 7 queues K ─▶ reconcile of K ─ token: O at 8 …
type loops struct {
	len atomic.Int32 // of chains

	mu     sync.Mutex // mu guards what follows
	chains map[object.Key]*chain
}

// chain is about the reconciles of one key.
type chain struct {
	resource schema.GroupResource // of the object that they write
	object   object.Key
	version  string    // that the last one has written
	links    int       // how many in a row were queued by the one before, and wrote the object
	since    time.Time // the first of them

	// Since the last reconcile returned:
	queued bool // the event of version has queued the key
	many   bool // there were more events than others can have
	// others are the versions of other events that have. Among them may be those of writes of the
	// reconcile that is running.
	others []string
}

// event is called when an event of an object at this version queues key.
func (l *loops) event(key object.Key, version string) {
	if l.len.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch c := l.chains[key]; {
	case c == nil:
	case c.version == version:
		c.queued = true
	case len(c.others) < mostVersions:
		c.others = append(c.others, version)
	default:
		c.many = true
	}
}

// reconciled is called when a reconcile of key has returned. It returns a loop that is to be
// reported: when it is found, and each time that it has become twice as long.
func (l *loops) reconciled(key object.Key, tokens []object.Token) (found HotLoop, ok bool) {
	if len(tokens) == 0 && l.len.Load() == 0 {
		return found, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.len.Store(int32(len(l.chains))) }()
	tokens = slices.DeleteFunc(slices.Clone(tokens), func(t object.Token) bool { return t == object.Token{} })
	if len(tokens) == 0 {
		delete(l.chains, key)
		return found, false
	}
	c := l.chains[key]
	at := -1
	if c != nil {
		at = slices.IndexFunc(tokens, c.writes)
	}
	if at < 0 || !c.queued {
		l.beginLocked(key, tokens[rand.IntN(len(tokens))], c)
		return found, false
	}
	early := slices.Contains(c.others, tokens[at].ResourceVersion)
	isOther := func(version string) bool {
		return !slices.ContainsFunc(tokens, func(t object.Token) bool { return t.ResourceVersion == version })
	}
	if c.many || slices.ContainsFunc(c.others, isOther) {
		c.links, c.since = 0, time.Now()
	}
	c.links++
	c.version, c.queued, c.others, c.many = tokens[at].ResourceVersion, early, nil, false
	return c.loop(key), c.links >= hot && c.links%hot == 0 && isPowerOfTwo(c.links/hot)
}

// beginLocked begins a chain with a write. If the last reconcile has written several objects, one
// of them is tried after the other.
func (l *loops) beginLocked(key object.Key, token object.Token, last *chain) {
	if l.chains == nil {
		l.chains = map[object.Key]*chain{}
	}
	if last == nil && len(l.chains) >= mostChains {
		for other := range l.chains {
			delete(l.chains, other)
			break
		}
	}
	c := &chain{resource: token.Resource.GroupResource(), object: token.Key, version: token.ResourceVersion, since: time.Now()}
	c.queued = last != nil && slices.Contains(last.others, c.version)
	l.chains[key] = c
}

// writes reports whether a token is of another write of the chain's object. A write that changed
// nothing has the version of the one before.
func (c *chain) writes(t object.Token) bool {
	return t.Key == c.object && t.Resource.GroupResource() == c.resource && t.ResourceVersion != c.version
}

func (c *chain) loop(key any) HotLoop {
	return HotLoop{Key: fmt.Sprint(key), Object: c.resource.String() + " " + c.object.String(), Reconciles: c.links, Since: c.since.UTC()}
}

// found returns the loops that go on, the longest first.
func (l *loops) found() (all []HotLoop) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, c := range l.chains {
		if c.links >= hot {
			all = append(all, c.loop(key))
		}
	}
	slices.SortFunc(all, func(a, b HotLoop) int { return b.Reconciles - a.Reconciles })
	return all
}

func isPowerOfTwo(n int) bool { return n&(n-1) == 0 }
