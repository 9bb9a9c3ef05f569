// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"context"
	"math"
	"time"
)

// Config holds the settings of a [Handler]. Zero and negative values mean the defaults.
type Config struct {
	Resources []Resource

	// WatchTimeout is the minimum duration of a watch if its client sets none, 30 minutes by
	// default; the maximum is twice that.
	WatchTimeout time.Duration
	// WriteTimeout is how long a client may take to read one write, about 64 KiB; 2 minutes by
	// default.
	WriteTimeout time.Duration

	// StateTimeout is how long a client may take to read a list, or the objects a watch begins
	// with; 1 minute by default, plus a second for each MiB of the objects, which stay in memory
	// that long. Then its connection or HTTP/2 stream ends.
	StateTimeout time.Duration

	// MaxWatches is how many watches may be open; 50,000 by default. The last quarter is reserved
	// for callers with less than a hundredth. MaxJoins is how many requests may be sent a state at
	// once: lists, and watches that begin with the objects; 1,000 by default, the last quarter for
	// callers without one. Callers are told apart by the Authorization header, or else by address.
	// Requests waiting for their version, or for Resource.Fresh, don't count as joins yet.
	MaxWatches, MaxJoins int
	// JoinBytes is the memory for encoded states shared by several watches; 64 MiB by default.
	// Beyond it, each of these watches encodes its state itself.
	JoinBytes int64
	// SlowBytes is the memory for events kept by watches whose clients don't read; 64 MiB by
	// default. An event kept by several watches counts once. Beyond it, the connections of the
	// watches keeping the most are closed.
	SlowBytes int64
	// MaxBody is the size limit of a write's body in bytes; 3 MiB by default. Larger bodies are
	// refused with 413.
	MaxBody int64

	// Shards enables shardSelector (KEP-5866), as an API server's feature gate ShardedListAndWatch
	// does.
	Shards bool

	// Authorize is called with each request before any other work, and returns nil if the caller
	// may make it. Otherwise its error is the answer: an apierrors.APIStatus as it is, any other
	// error as 500. The context is the request's, so a handler in front of this one can put the
	// caller into it. Authorize must be safe for concurrent use. If it is nil, everything is
	// allowed.
	//
	// Each open watch is authorized again every ReviewInterval, 5 minutes by default, with the
	// context's values. A forbidden or unauthorized error ends the watch; the client learns the
	// reason from its next request. After any other error the answer is unknown and the watch
	// stays, until such an error comes five intervals or more after the last success. Events are
	// sent meanwhile. A denied watch that is still being sent its initial events ends once its
	// client has taken the write under way. The context of such a call ends after 30 seconds, or
	// with the watch, which doesn't wait for it.
	Authorize      func(ctx context.Context, a Attributes) error
	ReviewInterval time.Duration
}

func (c Config) withDefaults() Config {
	const longest = math.MaxInt64 / 2 // leaves room for a random part
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
