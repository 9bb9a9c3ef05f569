// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// player plays one history.
type player struct {
	ctx      context.Context
	server   *server
	scope    scope // of both informers
	ours     *ours
	theirs   *theirs
	problems *problemList

	atRest  bool // since the last step that changed something
	running bool
	names   int // handlers so far, for their names
	awaits  []<-chan struct{}
}

// maxHandlers bounds the number of an informer's handlers.
const maxHandlers = 5

var keys = func() (all []object.Key) {
	for _, ns := range []string{"a", "b"} {
		for _, name := range []string{"x", "y", "z"} {
			all = append(all, object.Key{Namespace: ns, Name: name})
		}
	}
	return all
}()

// play plays a history in a bubble, and returns its problems.
func play(data []byte) []string {
	config, steps := split(data)
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	defer cancel()
	p := &player{ctx: ctx, server: newServer(), problems: &problemList{}}
	if err := p.configure(config); err != nil {
		return []string{err.Error()}
	}
	p.toggle(true)
	for step := range slices.Chunk(steps, stepBytes) {
		o := opOf[int(step[0])%len(opOf)]
		reach(o.name)
		o.do(p, step[1], step[2])
	}
	p.finish()
	return p.problems.all()
}

// clockOffset keeps an informer from giving up a stream at the very moment of an event: over HTTP,
// nobody would know whether the event has arrived.
const clockOffset = 137 * time.Microsecond

// pageSizes are the page sizes of our informer. None is 1, because over HTTP that is the limit of a
// list for the version only; the server's own limit makes pages of one object.
var pageSizes = [5]int64{0, 0, 2, 3, 500}

func (p *player) configure(config []byte) error {
	p.scope = scope{selector: labels.Everything()}
	if config[0]%4 == 0 {
		p.scope.selector = labels.SelectorFromSet(labels.Set{"tier": "gold"})
	}
	newClient := func(namespace string) *client {
		return &client{
			server: p.server, scope: scope{namespace, p.scope.selector}, model: newNaiveModel(),
			pageCap: []int{0, 1, 2, 500}[config[1]%4], refusesExpired: config[1]&4 != 0,
		}
	}
	c := oursConfig{clients: []*client{newClient("")}, transforms: config[0]&8 != 0}
	switch config[0] >> 4 % 4 {
	case 0:
		c.wire = true
	case 1:
		c.wire, c.clients = true, []*client{newClient("a"), newClient("b")}
		reach(several)
	}
	c.options = []informer.Option{
		informer.WithTuning(reflector.Tuning{DisableWatchList: config[2]%2 != 0, PageSize: pageSizes[config[2]/2%5], SilenceTimeout: 3*time.Minute + clockOffset, InitialEventsTimeout: 10*time.Second + clockOffset}),
	}
	var err error
	if p.ours, err = newOurs(c, p.problems); err != nil {
		return err
	}
	p.theirs = newTheirs(newClient(""), p.problems, config[2]%2 == 0)
	for n := range int(config[3]) % 6 {
		p.change(byte(n), config[3])
	}
	p.addHandler(0, 0)
	return nil
}

func (p *player) clients() []*client { return append(slices.Clip(p.ours.clients), p.theirs.client) }

// settle waits until nothing more happens without time passing.
func (p *player) settle() {
	synctest.Wait()
	p.atRest = true
}

func (p *player) change(a, b byte) {
	p.atRest = false
	key := keys[int(a)%len(keys)]
	tier := []string{"gold", "silver"}[b>>6%2]
	words := []string{"red", "red green", "green blue red", "blue blue", ""}[b>>3%5]
	switch b % 8 {
	case 0:
		p.server.delete(key)
	case 1:
		if p.server.delete(key) {
			p.server.write(key, tier, words)
		}
	default:
		p.server.write(key, tier, words)
	}
}

func (p *player) burst(a byte, n int) {
	rng := rand.New(rand.NewPCG(uint64(a), uint64(n)))
	for range n {
		p.change(byte(rng.Uint32()), byte(rng.Uint32()))
	}
}

// check compares everything at rest.
func (p *player) check() {
	p.settle()
	p.ours.check()
	p.theirs.check()
}

// pause lets time pass: some milliseconds or, now and then, many seconds.
func (p *player) pause(a, b byte) {
	p.atRest = false
	if b%4 == 0 {
		time.Sleep(time.Duration(a) * time.Second)
	} else {
		time.Sleep(time.Duration(a) * time.Millisecond)
	}
}

func (p *player) order(o order) {
	p.atRest = false
	for _, c := range p.clients() {
		c.order(o)
	}
}

// expire lets versions expire while no watch is open: changes are made and compacted between two
// streams.
func (p *player) expire(a, b byte) {
	p.atRest = false
	if a%2 == 0 { // only an ERROR event: the history is still there
		p.order(expireStream)
		return
	}
	for _, c := range p.clients() {
		// the changes must come before the next watch
		c.inject(fault{on: watchVerb, err: errThrottled})
	}
	p.order(endStream)
	p.settle()
	p.burst(b, 1+int(b)%4)
	p.server.compact()
}

func (p *player) fault(a, b byte) {
	p.atRest = false
	f := fault{
		on:    []verb{anyVerb, listVerb, watchVerb, streamVerb}[a%4],
		err:   []error{errRefused, errExpired, errThrottled, errInternal, errForbidden, errNoStreams, errCut, errLateBookmark}[a>>2%8],
		after: int(b>>2) % 4,
	}
	switch f.err {
	case errNoStreams, errLateBookmark:
		f.on, f.after = streamVerb, 0
	case errRefused, errForbidden:
		f.after = 0
	}
	for _, c := range p.clients() {
		c.inject(slices.Repeat([]fault{f}, 1+int(b)%4)...)
	}
}

func (p *player) slowPages(a byte) {
	for _, c := range p.clients() {
		c.mu.Lock()
		c.pagePause = time.Duration(a%4) * time.Millisecond
		c.mu.Unlock()
	}
}

func (p *player) addHandler(a, b byte) {
	if len(p.ours.handlers) == maxHandlers {
		return
	}
	if a&1 == 0 {
		p.settle()
	}
	p.names++
	name := fmt.Sprintf("handler %d", p.names)
	delay := []time.Duration{0, 0, time.Millisecond, 20 * time.Millisecond}[a>>1%4]
	threshold := []int{informer.Never, informer.Never, 0, 1, 5, 1024}[b%6]
	p.ours.add(name, delay, threshold, b>>4%4 == 1, b>>6 == 3, p.atRest)
	p.theirs.add("client-go's "+name, delay)
	p.atRest = false
}

func (p *player) removeHandler(a byte) {
	if n := len(p.ours.handlers); n > 0 {
		p.ours.remove(int(a) % n)
		p.theirs.remove(int(a) % n)
		p.atRest = false // it may have waited for a callback
	}
}

func (p *player) stallHandler(a, b byte) {
	if n := len(p.ours.handlers); n > 0 {
		d := int64(time.Duration(b) * 50 * time.Millisecond)
		p.ours.handlers[int(a)%n].stall.Store(d)
		p.theirs.handlers[int(a)%n].stall.Store(d)
	}
}

func (p *player) addIndex(n int) {
	p.ours.addIndex(n)
	p.theirs.addIndex(n)
}

// toggle stops or starts the informers. With atRest, it stops them only after they have applied
// everything delivered.
func (p *player) toggle(atRest bool) {
	if p.running = !p.running; p.running {
		p.ours.start(p.ctx)
		p.theirs.start(p.ctx)
		return
	}
	if atRest {
		p.settle()
	}
	p.ours.stop(p.atRest)
	p.theirs.stop()
	p.atRest = false
}

// failTransforms lets our transform fail, not client-go's: its informer drops a watched object that
// it can't transform, for good.
func (p *player) failTransforms(a byte) {
	if !p.ours.wire {
		p.ours.failing.Store(1 + int64(a)%4)
	}
}

func (p *player) await() {
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	done := p.ours.await(ctx, p.server.version())
	over := make(chan struct{})
	go func() { <-done; cancel(); close(over) }()
	p.awaits = append(p.awaits, over)
}

// patience bounds the recovery of informers, in the bubble's time. client-go needs most of it: it
// waits for a minute between attempts.
const patience = 30 * time.Minute

// finish heals all faults and compares everything with everything.
func (p *player) finish() {
	if !p.running {
		p.toggle(true)
	}
	for _, c := range p.clients() {
		c.heal()
	}
	p.ours.failing.Store(0)
	version := fmt.Sprint(p.server.version())
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	if err := p.ours.informer.AwaitResourceVersion(ctx, version); err != nil {
		p.problems.add("our informer has not reached version %s: %v; %+v", version, err, p.ours.informer.Status())
	}
	cancel()
	for end := time.Now().Add(patience); p.theirs.informer.LastSyncResourceVersion() != version; time.Sleep(30 * time.Second) {
		if time.Now().After(end) {
			p.problems.add("client-go's informer has not reached version %s, but is at %s", version, p.theirs.informer.LastSyncResourceVersion())
			break
		}
	}
	for _, done := range p.awaits {
		<-done
	}
	time.Sleep(2 * time.Minute) // slow handlers catch up
	p.check()
	p.agree()
	p.ours.stop(true)
	p.theirs.stop()
}

// agree compares server, stores, models and handlers.
func (p *player) agree() {
	p.server.mu.Lock()
	want := show(slices.Values(p.server.stateLocked(p.server.versionLocked(), p.scope)))
	p.server.mu.Unlock()
	states := p.server.states(p.scope)

	if got := show(p.ours.informer.Store().Snapshot().All()); got != want {
		p.problems.add("at the end our store has\n\t%s, the server\n\t%s", got, want)
	}
	if got := show(p.theirs.objects()); got != want {
		p.problems.add("at the end client-go's store has\n\t%s, the server\n\t%s", got, want)
	}
	for _, h := range p.ours.handlers {
		h.expectObjects(want)
		h.expectStates(states)
		if h.exact {
			h.expectEvents(p.ours.models, false)
		} else if h.gotFewerEvents(p.ours.models) {
			reach(merged)
		}
		if s := h.reg.Load().Status(); !s.Synced || !h.resync && (s.Backlog != 0 || s.Callback != "") {
			p.problems.add("at the end %s has the status %+v", h.name, s)
		}
	}
	for _, h := range p.theirs.handlers {
		h.expectObjects(want)
		h.expectStates(states)
		if !h.reg.HasSynced() {
			p.problems.add("at the end %s has not synced", h.name)
		}
	}
	p.theirs.checkIndexes()
}
