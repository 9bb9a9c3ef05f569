// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

const (
	// mostStrangers is how many questions of strangers are asked at a time, and strangersQueue how
	// many of them are asked or wait.
	mostStrangers  = 32
	strangersQueue = 512
	// refusalBurst and refusalsPerSecond bound the refusals of one address. Questions under way
	// count as refusals until they are answered.
	refusalBurst      = 100
	refusalsPerSecond = 10
	// mostAddresses is how many addresses are known: the latest ones.
	mostAddresses = 16_384
)

// errTooMany is why a question isn't asked for a stranger.
var errTooMany = errors.New("too many strangers")

// strangers bounds the questions for callers of whom nothing good is known: how many there are at a
// time, and by address how many are answered with no.
type strangers struct {
	// set once at construction
	slots chan struct{} // has an element for each question that is asked

	mu     sync.Mutex // mu guards what follows, and the addresses' content
	asking int        // questions that are asked or wait
	by     *lru.Cache // of *address by network
}

// address counts the refusals of strangers at one address, and their questions under way.
type address struct {
	refusals *rate.Limiter
	asking   int
}

func newStrangers() *strangers {
	return &strangers{slots: make(chan struct{}, mostStrangers), by: lru.New(mostAddresses)}
}

// enter waits until a question may be asked for a caller at an address. leave must be called when
// it was, with whether the answer is a yes. It returns an error that wraps errTooMany at once, or
// the cause if ctx ends.
func (s *strangers) enter(ctx context.Context, from netip.Addr) (leave func(yes bool), err error) {
	known, err := s.queue(from)
	if err != nil {
		return nil, err
	}
	select {
	case s.slots <- struct{}{}:
		return func(yes bool) {
			<-s.slots
			s.leave(known, yes)
		}, nil
	case <-ctx.Done():
		s.leave(known, true)
		return nil, fmt.Errorf("waiting for %d reviews of other strangers: %w", mostStrangers, context.Cause(ctx))
	}
}

func (s *strangers) queue(from netip.Addr) (*address, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	network := networkOf(from)
	var known *address
	if kept, ok := s.by.Get(network); ok {
		known = kept.(*address)
	} else {
		known = &address{refusals: rate.NewLimiter(refusalsPerSecond, refusalBurst)}
		s.by.Add(network, known)
	}
	switch {
	case known.refusals.Tokens() < float64(known.asking+1):
		return nil, fmt.Errorf("%w: callers at %s were refused, or wait, more than %d times in a second, after %d times", errTooMany, network, refusalsPerSecond, refusalBurst)
	case s.asking >= strangersQueue:
		return nil, fmt.Errorf("%w: %d callers wait for their first review", errTooMany, strangersQueue)
	}
	s.asking++
	known.asking++
	return known, nil
}

func (s *strangers) leave(known *address, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking--
	known.asking--
	if !yes {
		known.refusals.Allow() // there is a token, since queue has looked
	}
}

// networkOf returns what counts as one address: of IPv6, where a host may have any number of them,
// the network of 64 bits.
func networkOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.Prefix(bits) // the zero Addr has no bits, and a zero Prefix
	return network
}

// addressOf returns the address that a request comes from; the zero Addr if it has none.
func addressOf(req *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(req.RemoteAddr)
	return from.Addr()
}
