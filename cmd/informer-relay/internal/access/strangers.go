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
	// mostStrangers bounds strangers' questions under way, and strangersQueue those under way or
	// waiting.
	mostStrangers  = 32
	strangersQueue = 512
	// refusalBurst and refusalsPerSecond bound the refusals of one address. Questions under way
	// count as refusals until they are answered.
	refusalBurst      = 100
	refusalsPerSecond = 10
	// mostAddresses bounds the addresses remembered.
	mostAddresses = 16_384
)

var errTooMany = errors.New("too many strangers")

// strangers bounds the questions of callers about whom nothing good is known: how many are asked at
// a time, and how many of an address are answered with no.
type strangers struct {
	// set once at construction
	slots chan struct{} // a slot for each question under way

	mu     sync.Mutex // mu guards the fields below, and the addresses' content
	asking int        // questions under way or waiting
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

// enter waits until a question of a caller at an address may be asked. The caller must call leave
// after the answer, with whether it is a yes. enter returns an error that wraps errTooMany at once,
// or the cause if ctx ends.
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
		known.refusals.Allow() // queue has checked that a token is left
	}
}

// networkOf returns the network counted as one address. For IPv6 it is the /64, because a host may
// have any number of addresses.
func networkOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.Prefix(bits) // the zero Addr has no bits, and a zero Prefix
	return network
}

// addressOf returns a request's remote address, or the zero Addr if it has none.
func addressOf(req *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(req.RemoteAddr)
	return from.Addr()
}
