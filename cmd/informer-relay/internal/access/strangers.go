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
	// maxStrangers bounds strangers' questions under way, and maxQueuedStrangers those under way or
	// waiting.
	maxStrangers       = 32
	maxQueuedStrangers = 512
	// refusalBurst and refusalsPerSecond bound the refusals of one address. Questions under way
	// count as refusals until they are answered.
	refusalBurst      = 100
	refusalsPerSecond = 10
	// maxAddresses bounds the addresses remembered.
	maxAddresses = 16_384
)

var errTooMany = errors.New("too many strangers")

// strangers bounds the questions of callers about whom nothing good is known: how many are asked at
// a time, and how many of an address are answered with no.
type strangers struct {
	// set once at construction
	slots chan struct{} // a slot for each question under way

	mu        sync.Mutex // mu guards the fields below, and the addresses' content
	queued    int        // questions under way or waiting
	byNetwork *lru.Cache // of *address by network
}

// address counts the refusals of strangers at one address, and their questions under way.
type address struct {
	refusals *rate.Limiter
	queued   int
}

func newStrangers() *strangers {
	return &strangers{slots: make(chan struct{}, maxStrangers), byNetwork: lru.New(maxAddresses)}
}

// enter waits until a question of a caller at an address may be asked. The caller must call leave
// after the answer, with whether it is a yes. enter returns an error that wraps errTooMany at once,
// or the cause if ctx ends.
func (s *strangers) enter(ctx context.Context, remote netip.Addr) (leave func(yes bool), err error) {
	addr, err := s.queue(remote)
	if err != nil {
		return nil, err
	}
	select {
	case s.slots <- struct{}{}:
		return func(yes bool) {
			<-s.slots
			s.leave(addr, yes)
		}, nil
	case <-ctx.Done():
		s.leave(addr, true)
		return nil, fmt.Errorf("waiting for %d reviews of other strangers: %w", maxStrangers, context.Cause(ctx))
	}
}

func (s *strangers) queue(remote netip.Addr) (*address, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	network := networkOf(remote)
	var addr *address
	if kept, ok := s.byNetwork.Get(network); ok {
		addr = kept.(*address)
	} else {
		addr = &address{refusals: rate.NewLimiter(refusalsPerSecond, refusalBurst)}
		s.byNetwork.Add(network, addr)
	}
	switch {
	case addr.refusals.Tokens() < float64(addr.queued+1):
		return nil, fmt.Errorf("%w: callers at %s have used up %d refusals, and get %d more a second", errTooMany, network, refusalBurst, refusalsPerSecond)
	case s.queued >= maxQueuedStrangers:
		return nil, fmt.Errorf("%w: %d callers wait for their first review", errTooMany, maxQueuedStrangers)
	}
	s.queued++
	addr.queued++
	return addr, nil
}

func (s *strangers) leave(addr *address, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued--
	addr.queued--
	if !yes {
		addr.refusals.Allow() // queue has checked that a token is left
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
