// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"context"
	"math"
	"time"
)

// Config is the settings of a [Handler]. Zero values, and negative ones, stand for the defaults.
type Config struct {
	Resources []Resource

	// WatchTimeout is the shortest time after which a watch ends whose client leaves that to the
	// server; the longest is twice that. 30 minutes by default.
	WatchTimeout time.Duration
	// WriteTimeout is how long a client may take to read what is sent at once, which is 64 KiB
	// about; 2 minutes by default.
	WriteTimeout time.Duration

	// StateTimeout is how long a client may take to read a list, or the objects with which a watch
	// begins; 1 minute by default. It may take a second more for each MiB of the objects. Then its
	// connection, or its stream over HTTP/2, ends: until it has read them, they are kept.
	StateTimeout time.Duration

	// MaxWatches is how many watches may be open; 50,000 by default. The last quarter of them is
	// for callers that have less than a hundredth. MaxJoins is how many requests may be sent a
	// state at once: lists, and watches that begin with the objects. It is 1,000 by default, the
	// last quarter for callers that have none. A caller is known by its Authorization header, or
	// else by its address. Requests that wait for their version, or for Resource.Fresh, are no
	// joins yet.
	MaxWatches, MaxJoins int
	// JoinBytes is how much memory the encoded states may take that several watches are being sent;
	// 64 MiB by default. Beyond it, each of these watches encodes its state by itself.
	JoinBytes int64
	// SlowBytes is how much memory the events may take that watches keep because their clients
	// don't read; 64 MiB by default. An event that several watches keep counts once. Beyond it, the
	// connections of the watches that keep the most are closed.
	SlowBytes int64
	// MaxBody is how many bytes the body of a write may have; 3 MiB by default, as in an API
	// server. Larger ones are refused with 413.
	MaxBody int64

	// Shards makes lists and watches with a shardSelector be of that part of a collection
	// (KEP-5866), as an API server does with the feature gate ShardedListAndWatch. Otherwise the
	// parameter is ignored, as by an API server without it.
	Shards bool

	// Authorize is called with each request before anything else is done for it, and returns nil if
	// the caller may make it. Otherwise its error is the answer: an apierrors.APIStatus as it is,
	// any other one as 500. The context is the request's, so a handler in front of this one can put
	// the caller into it. Authorize may be called by any number of goroutines. If it is nil,
	// everything is allowed.
	//
	// It is called again for each open watch every ReviewInterval, which is 5 minutes by default,
	// with the context's values. If its error is that a request is forbidden or unauthorized, the
	// watch ends, and the client learns why from its next request; other errors mean that nothing
	// is known, and the watch stays, but no longer than for five intervals after it was allowed
	// last: then it ends with the next such error. Meanwhile events are sent. A watch that is being
	// sent its initial events ends when its client has taken the write that is under way. The
	// context of such a call ends after 30 seconds, or with the watch, which doesn't wait for it.
	Authorize      func(ctx context.Context, a Attributes) error
	ReviewInterval time.Duration
}

func (c Config) withDefaults() Config {
	const longest = math.MaxInt64 / 2 // so that a random part can be added
	c.WatchTimeout = min(cmp.Or(max(c.WatchTimeout, 0), 30*time.Minute), longest)
	c.WriteTimeout = cmp.Or(max(c.WriteTimeout, 0), 2*time.Minute)
	c.StateTimeout = min(cmp.Or(max(c.StateTimeout, 0), time.Minute), longest)
	c.MaxWatches = cmp.Or(max(c.MaxWatches, 0), 50_000)
	c.MaxJoins = cmp.Or(max(c.MaxJoins, 0), 1_000)
	c.JoinBytes = cmp.Or(max(c.JoinBytes, 0), 64<<20)
	c.SlowBytes = cmp.Or(max(c.SlowBytes, 0), 64<<20)
	c.MaxBody = cmp.Or(max(c.MaxBody, 0), 3<<20)
	c.ReviewInterval = min(cmp.Or(max(c.ReviewInterval, 0), 5*time.Minute), longest)
	return c
}
