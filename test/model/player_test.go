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
	ctx    context.Context
	server *server
	scope  scope // of both informers
	ours   *ours
	theirs *theirs
	wrong  *problems

	atRest  bool // since the last step that changed something
	running bool
	names   int // of handlers
	awaits  []<-chan struct{}
}

// maxHandlers is how many handlers an informer has at most at a time.
const maxHandlers = 5

var keys = func() (all []object.Key) {
	for _, ns := range []string{"a", "b"} {
		for _, name := range []string{"x", "y", "z"} {
			all = append(all, object.Key{Namespace: ns, Name: name})
		}
	}
	return all
}()

// play plays a history, in a bubble, and returns what is wrong.
func play(data []byte) []string {
	config, steps := split(data)
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	defer cancel()
	p := &player{ctx: ctx, server: newServer(), wrong: &problems{}}
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
	return p.wrong.all()
}

// odd makes sure that an informer never gives up a stream at the very moment at which the server
// sends something: over HTTP it would be unknown whether that has arrived.
const odd = 137 * time.Microsecond

// pageSizes are those that our informer may ask for. None is 1, which over HTTP says that only the
// version is asked for; the server's own limit makes pages of one object.
var pageSizes = [5]int64{0, 0, 2, 3, 500}

func (p *player) configure(config []byte) error {
	p.scope = scope{selector: labels.Everything()}
	if config[0]%4 == 0 {
		p.scope.selector = labels.SelectorFromSet(labels.Set{"tier": "gold"})
	}
	newClient := func(namespace string) *client {
		return &client{
			server: p.server, scope: scope{namespace, p.scope.selector}, model: newNaive(),
			pageCap: []int{0, 1, 2, 500}[config[1]%4], unbridged: config[1]&4 != 0,
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
		informer.WithTuning(reflector.Tuning{DisableWatchList: config[2]%2 != 0, PageSize: pageSizes[config[2]/2%5], SilenceTimeout: 3*time.Minute + odd, InitialEventsTimeout: 10*time.Second + odd}),
	}
	var err error
	if p.ours, err = newOurs(c, p.wrong); err != nil {
		return err
	}
	p.theirs = newTheirs(newClient(""), p.wrong, config[2]%2 == 0)
	for n := range int(config[3]) % 6 {
		p.change(byte(n), config[3])
	}
	p.addHandler(0, 0)
	return nil
}

func (p *player) clients() []*client { return append(slices.Clip(p.ours.clients), p.theirs.client) }

// rest waits until nothing more happens without time passing.
func (p *player) rest() {
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

// check compares what is at rest.
func (p *player) check() {
	p.rest()
	p.ours.check()
	p.theirs.check()
}

// pause lets time pass: some milliseconds, or, now and then, many seconds.
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

// expire makes versions expire while no watch is open: changes come, and are compacted, while
// streams end.
func (p *player) expire(a, b byte) {
	p.atRest = false
	if a%2 == 0 { // an ERROR event, and history is still there
		p.order(expireStream)
		return
	}
	for _, c := range p.clients() {
		// so that the changes come before the next watch
		c.inject(fault{on: watchVerb, err: errThrottled})
	}
	p.order(endStream)
	p.rest()
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
		p.rest()
	}
	p.names++
	name := fmt.Sprintf("handler %d", p.names)
	pace := []time.Duration{0, 0, time.Millisecond, 20 * time.Millisecond}[a>>1%4]
	threshold := []int{informer.Never, informer.Never, 0, 1, 5, 1024}[b%6]
	p.ours.add(name, pace, threshold, b>>4%4 == 1, b>>6 == 3, p.atRest)
	p.theirs.add("client-go's "+name, pace)
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

// toggle stops or starts the informers; in peace, if they are stopped, after all is applied that
// was handed over.
func (p *player) toggle(peace bool) {
	if p.running = !p.running; p.running {
		p.ours.start(p.ctx)
		p.theirs.start(p.ctx)
		return
	}
	if peace {
		p.rest()
	}
	p.ours.stop(p.atRest)
	p.theirs.stop()
	p.atRest = false
}

// failTransforms is about ours only: client-go drops what it can't transform in a watch, and never
// mends that.
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

// patience is how much of the bubble's time informers have to recover from all that has happened.
// client-go needs most of it: it waits for a minute between attempts.
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
		p.wrong.add("our informer has not come to version %s: %v; %+v", version, err, p.ours.informer.Status())
	}
	cancel()
	for end := time.Now().Add(patience); p.theirs.informer.LastSyncResourceVersion() != version; time.Sleep(30 * time.Second) {
		if time.Now().After(end) {
			p.wrong.add("client-go's informer has not come to version %s, but %s", version, p.theirs.informer.LastSyncResourceVersion())
			break
		}
	}
	for _, done := range p.awaits {
		<-done
	}
	time.Sleep(2 * time.Minute) // the slow ones catch up
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
		p.wrong.add("at the end our store has\n\t%s, the server\n\t%s", got, want)
	}
	if got := show(p.theirs.objects()); got != want {
		p.wrong.add("at the end client-go's store has\n\t%s, the server\n\t%s", got, want)
	}
	for _, h := range p.ours.handlers {
		h.knows(want)
		h.toldOf(states)
		if h.exact {
			h.isTold(p.ours.models, false)
		} else if h.toldLess(p.ours.models) {
			reach(merged)
		}
		if s := h.reg.Load().Status(); !s.Synced || !h.resync && (s.Backlog != 0 || s.Callback != "") {
			p.wrong.add("at the end: %+v", s)
		}
	}
	for _, h := range p.theirs.handlers {
		h.knows(want)
		h.toldOf(states)
		if !h.reg.HasSynced() {
			p.wrong.add("at the end %s has not synced", h.name)
		}
	}
	p.theirs.checkIndexes()
}
