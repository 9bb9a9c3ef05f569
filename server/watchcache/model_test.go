// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestModel plays random histories, and compares lists and watches with the storage's states.
func TestModel(t *testing.T) {
	for seed := range uint64(10) {
		for _, relists := range []bool{false, true} {
			for _, merges := range []bool{false, true} {
				t.Run(fmt.Sprintf("seed %d, relists %v, merges %v", seed, relists, merges), func(t *testing.T) {
					testModel(t, seed, relists, merges)
				})
			}
		}
	}
}

func testModel(t *testing.T, seed uint64, relists, merges bool) {
	storage := &severableStorage{Storage: memory.New("spec.node"), connected: make(chan struct{})}
	close(storage.connected)
	config := watchcache.Config{Storage: storage, Bytes: 8 << 10, BookmarkInterval: 20 * time.Second, MergeSlow: merges}
	inBubble(t, config, func(t *testing.T, r *rig) {
		r.storage = storage.Storage
		m := &model{
			rig: r, random: rand.New(rand.NewPCG(seed, 7)), severable: storage, relists: relists, merges: merges,
			states: map[uint64]objectsByKey{1: {}},
		}
		for range 150 {
			m.step()
		}
		for _, c := range m.clients {
			c.close()
		}
		if s := r.cache.Status(); merges != (s.Merged > 0) || merges == (s.Ended.Slow > 0) {
			t.Errorf("with merges %v: %d slow watches were merged, %d ended", merges, s.Merged, s.Ended.Slow)
		}
	})
}

// objectsByKey holds the objects of a state, by key.
type objectsByKey map[string]*watchcache.Object

func (w objectsByKey) selected(f watchcache.Filter) map[string]uint64 {
	s := map[string]uint64{}
	for key, o := range w {
		node := o.Fields.Get("spec.node")
		inScope := f.Namespace == "" || f.Namespace == o.Namespace()
		inShard := f.Shard == "" || hash(o.UID) < 1<<63
		if inScope && inShard && f.Labels.Matches(o.Labels) && (f.Fields.Empty() || f.Fields.String() == "spec.node="+node) {
			s[key] = o.Version
		}
	}
	return s
}

const lowerHalf = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"

func hash(uid string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid))
	return h.Sum64()
}

// model is a history and its clients.
type model struct {
	*rig
	random    *rand.Rand
	severable *severableStorage
	relists   bool
	merges    bool
	states    map[uint64]objectsByKey // by version
	clients   []*client
}

// step writes to the storage, adds a client, and lets some clients read or resume.
func (m *model) step() {
	for range 1 + m.random.IntN(4) {
		m.write()
	}
	if m.relists && m.random.IntN(10) == 0 {
		m.missChanges()
	}
	time.Sleep(time.Duration(m.random.IntN(1500)) * time.Millisecond)
	synctest.Wait()
	m.checkLists()
	if len(m.clients) < 12 {
		m.clients = append(m.clients, m.newClient())
	}
	for _, c := range m.clients {
		if m.random.IntN(4) > 0 {
			c.read()
		}
		if m.random.IntN(20) == 0 {
			c.resume()
		}
	}
}

// write makes one change, and records the resulting state.
func (m *model) write() {
	key := [...]string{"a/one", "a/two", "a-b/one", "ab/one", "b/one", "b/two"}[m.random.IntN(6)]
	next := maps.Clone(m.states[m.storage.Version()])
	data := widget(key, fmt.Sprintf("app=%d", m.random.IntN(3)), fmt.Sprintf("node=n%d", m.random.IntN(3)))
	var err error
	switch exists := next[key] != nil; {
	case m.random.IntN(10) == 0:
		m.storage.Bookmark()
	case !exists:
		next[key], err = m.storage.Create(m.Context(), data)
	case m.random.IntN(3) == 0:
		_, err = m.storage.Delete(m.Context(), key, watchcache.Preconditions{Version: next[key].Version})
		delete(next, key)
	default:
		next[key], err = m.storage.Update(m.Context(), data)
	}
	if err != nil {
		m.Fatal(err)
	}
	m.states[m.storage.Version()] = next
}

// missChanges makes the cache miss some changes, so it must list.
func (m *model) missChanges() {
	synctest.Wait()
	m.severable.disconnect()
	for range m.random.IntN(6) {
		m.write()
	}
	m.storage.Compact(m.storage.Version())
	m.severable.reconnect()
	time.Sleep(time.Minute)
}

// checkLists lists at the newest version, and page by page at a version in the log.
func (m *model) checkLists() {
	now := m.cache.Status()
	if now.Version != m.storage.Version() {
		m.Fatalf("the cache is at version %d, the storage at %d", now.Version, m.storage.Version())
	}
	f := m.filter()
	exact := now.Oldest + m.random.Uint64N(now.Version-now.Oldest+1)
	for _, o := range []watchcache.ListOptions{{Filter: f}, {Filter: f, Exact: exact, Limit: 1 + m.random.IntN(3)}} {
		got, last := map[string]uint64{}, ""
		for {
			l, err := m.cache.List(m.Context(), o)
			if m.relists && errors.As(err, new(*watchcache.ExpiredError)) {
				return // the version is unknown
			}
			if err != nil {
				m.Fatalf("List at version %d of a cache at %+v: %v", o.Exact, now, err)
			}
			for _, obj := range l.Objects {
				if obj.Key <= last {
					m.Fatalf("List returned %s after %s", obj.Key, last)
				}
				got[obj.Key], last = obj.Version, obj.Key
			}
			if l.Continue == "" {
				if want := m.states[l.Version].selected(f); !maps.Equal(got, want) {
					m.Fatalf("List of %+v at version %d: got %v, want %v", f, l.Version, got, want)
				}
				break
			}
			o.From = l.Continue
		}
	}
}

func (m *model) filter() watchcache.Filter {
	f := newFilter(
		[...]string{"", "", "a", "b"}[m.random.IntN(4)],
		[...]string{"", "app=0", "app!=1", "app in (1,2)"}[m.random.IntN(4)],
		[...]string{"", "", "spec.node=n0"}[m.random.IntN(3)])
	f.Shard = [...]string{"", "", lowerHalf}[m.random.IntN(3)]
	return f
}

// client follows the cache by watches, and keeps the objects of their events.
type client struct {
	m       *model
	filter  watchcache.Filter
	objects map[string]uint64 // versions by key
	version uint64            // up to which it has all changes; 0 if it must start over
	w       *watchcache.Watcher

	// set for clients with a Receive function, which appends to events
	mu     *sync.Mutex // mu guards events and err
	events []watchcache.Event
	err    error
}

// newClient returns a client with the state at some version, or without one.
func (m *model) newClient() *client {
	c := &client{m: m, filter: m.filter()}
	if m.random.IntN(2) == 0 {
		c.mu = &sync.Mutex{}
	}
	if m.random.IntN(2) == 0 {
		now := m.cache.Status()
		oldest := max(3, now.Oldest) - 2
		c.version = oldest + m.random.Uint64N(now.Version-oldest+1)
		c.objects = m.states[c.version].selected(c.filter)
	}
	c.begin()
	return c
}

// begin opens a watch from the client's version, or one with initial events if that has expired.
func (c *client) begin() {
	o := watchcache.WatchOptions{Filter: c.filter, After: c.version, Bookmarks: true, Format: watchcache.JSON{Kind: "Widget"}}
	if c.mu != nil {
		c.events, c.err = nil, nil
		o.Receive = c.receive
	}
	if c.version == 0 {
		c.objects, o.InitialEvents = map[string]uint64{}, true
	}
	now := c.m.cache.Status()
	w, err := c.m.cache.Watch(c.m.Context(), o)
	switch expired := errors.As(err, new(*watchcache.ExpiredError)); {
	case err == nil && c.version != 0 && c.version < now.Oldest:
		c.m.Fatalf("Watch after version %d was accepted, but the log begins at %d", c.version, now.Oldest)
	case expired && c.version != 0 && (c.version < now.Oldest || c.m.relists):
		c.version = 0
		c.begin()
		return
	case err != nil:
		c.m.Fatalf("Watch after version %d of a cache at %+v: %v", c.version, now, err)
	}
	c.w = w
}

// receive returns false now and then; read calls Ready.
func (c *client) receive(events []watchcache.Event, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, events...)
	c.err = err
	return len(c.events)%2 == 0
}

// read applies the waiting events, and starts over if the watch has ended.
func (c *client) read() {
	for _, e := range c.take() {
		c.apply(e)
	}
	if c.err != nil {
		if !errors.As(c.err, new(*watchcache.ExpiredError)) || c.m.merges && !c.m.relists {
			c.m.Fatal(c.err)
		}
		c.err, c.version = nil, 0
		c.begin()
		return
	}
	now := c.m.storage.Version()
	if want := c.m.states[now].selected(c.filter); !maps.Equal(c.objects, want) {
		c.m.Fatalf("at version %d, a client with %+v has %v, want %v", now, c.filter, c.objects, want)
	}
}

func (c *client) take() (all []watchcache.Event) {
	if c.mu == nil {
		for c.err == nil {
			ctx, cancel := context.WithTimeout(c.m.Context(), time.Nanosecond)
			events, err := c.w.Next(ctx)
			cancel()
			all = append(all, events...)
			if err == context.DeadlineExceeded {
				return all
			}
			c.err = err
		}
		return all
	}
	for {
		synctest.Wait()
		c.mu.Lock()
		events := c.events
		c.events = nil
		c.mu.Unlock()
		if len(events) == 0 {
			return all
		}
		all = append(all, events...)
		c.w.Ready()
	}
}

// apply applies an event to the client's objects.
func (c *client) apply(e watchcache.Event) {
	if e.Version < c.version && (e.Object == nil || c.version != 0 && e.Type != watch.Added) {
		c.m.Fatalf("got %q after version %d", eventStrings([]watchcache.Event{e}), c.version)
	}
	if !strings.Contains(string(e.Frame), fmt.Sprintf(`"resourceVersion":"%d"`, e.Version)) {
		c.m.Fatalf("the frame of %q is %s", eventStrings([]watchcache.Event{e}), e.Frame)
	}
	if e.Type == watch.Bookmark {
		c.version = e.Version
		c.checkState()
		return
	}
	key := e.Object.Key
	_, known := c.objects[key]
	if !c.m.relists && known != (e.Type != watch.Added) {
		c.m.Fatalf("got %q, but the client has %v", eventStrings([]watchcache.Event{e}), c.objects)
	}
	if e.Type == watch.Deleted {
		delete(c.objects, key)
	} else {
		c.objects[key] = e.Version
	}
	if c.version != 0 { // else it is an initial event
		c.version = e.Version
		c.checkState()
	}
}

// checkState compares the client's objects with the storage's at the client's version. They may
// differ after a relist, and during merged events.
func (c *client) checkState() {
	if want := c.m.states[c.version].selected(c.filter); !c.m.relists && !c.m.merges && !maps.Equal(c.objects, want) {
		c.m.Fatalf("at version %d, a client with %+v has %v, want %v", c.version, c.filter, c.objects, want)
	}
}

// resume closes the watch, and opens another one from the client's version.
func (c *client) resume() {
	c.close()
	if c.mu != nil {
		for _, e := range c.take() {
			c.apply(e)
		}
	}
	c.begin()
}

func (c *client) close() {
	c.w.Close()
	if c.mu == nil {
		if _, err := c.w.Next(c.m.Context()); err != io.EOF && !errors.As(err, new(*watchcache.ExpiredError)) {
			c.m.Fatal(err)
		}
	}
}

// severableStorage is a storage whose watches can be interrupted.
type severableStorage struct {
	*memory.Storage

	mu        sync.Mutex         // mu guards what follows
	connected chan struct{}      // closed unless watches are interrupted
	cancel    context.CancelFunc // of the current watch
}

func (s *severableStorage) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected = make(chan struct{})
	s.cancel()
}

func (s *severableStorage) reconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.connected)
}

func (s *severableStorage) Watch(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
	s.mu.Lock()
	whole := s.connected
	ctx, s.cancel = context.WithCancel(ctx)
	s.mu.Unlock()
	select {
	case <-whole:
		return s.Storage.Watch(ctx, after, emit)
	case <-ctx.Done():
		return ctx.Err()
	}
}
