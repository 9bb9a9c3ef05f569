// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"slices"
	"sync"
	"time"
)

// Limiter decides how long a key waits after a failure. The queue calls it while it is locked, so
// its methods must neither block nor call the queue. If Delay panics, so does the call that has
// reported the failure, and the key's item is not done. A Limiter that several queues share is
// called by several goroutines at once.
type Limiter interface {
	// Delay returns how long a key waits after so many failures in a row, of which there is one at
	// least and 255 at most. random is in [0, 1), a new one for each call.
	Delay(failures int, random float64) time.Duration
	// Least returns how long a key that failed waits at least, also if it is added meanwhile.
	Least() time.Duration
}

// Exponential is a Limiter whose delay is Base after the first failure, doubles with each further
// one, and is Max at most.
type Exponential struct {
	Base, Max time.Duration
	// Jitter is by how much a delay may be shorter, as a part of it between 0 and 1, so that keys
	// that failed together don't come back together. A delay of 10 s with a Jitter of 0.1 is
	// between 9 s and 10 s.
	Jitter float64
}

// Delay implements [Limiter].
func (e Exponential) Delay(failures int, random float64) time.Duration {
	delay, most := max(0, e.Base), max(0, e.Base, e.Max)
	for range max(0, failures-1) {
		if delay > most/2 {
			delay = most
			break
		}
		delay *= 2
	}
	return delay - time.Duration(min(1, max(0, e.Jitter))*random*float64(delay))
}

// Least returns Base.
func (e Exponential) Least() time.Duration { return e.Base }

// FastSlow is a Limiter that answers Fast for the first Tries failures in a row, then Slow.
type FastSlow struct {
	Fast, Slow time.Duration
	Tries      int
}

// Delay implements [Limiter].
func (f FastSlow) Delay(failures int, _ float64) time.Duration {
	if failures <= f.Tries {
		return f.Fast
	}
	return f.Slow
}

// Least returns Fast.
func (f FastSlow) Least() time.Duration { return f.Fast }

// Bucket returns a Limiter that hands out perSecond delays a second, and burst of them at once
// after a quiet period: each failure of any key takes a token of the future, which is never given
// back. So the last of many keys that fail together waits for long. Options.RetryRate has no such
// effect: use that, and Bucket where delays have to be those of client-go.
func Bucket(perSecond float64, burst int) Limiter {
	return &bucket{made: time.Now(), pace: newPace(perSecond, burst)}
}

type bucket struct {
	made time.Time

	mu   sync.Mutex
	pace pace // mu guards it
}

func (b *bucket) Delay(int, float64) time.Duration {
	now := int64(time.Since(b.made))
	b.mu.Lock()
	defer b.mu.Unlock()
	at := max(now, b.pace.open())
	b.pace.take(at)
	return time.Duration(at - now)
}

func (b *bucket) Least() time.Duration { return 0 }

// MaxOf returns a Limiter that answers the longest of several delays.
func MaxOf(limiters ...Limiter) Limiter { return maxOf(slices.Clone(limiters)) }

type maxOf []Limiter

func (m maxOf) Delay(failures int, random float64) (longest time.Duration) {
	for _, l := range m {
		longest = max(longest, l.Delay(failures, random))
	}
	return longest
}

func (m maxOf) Least() (longest time.Duration) {
	for _, l := range m {
		longest = max(longest, l.Least())
	}
	return longest
}

// ClientGo returns a Limiter with the delays of client-go's DefaultTypedControllerRateLimiter: the
// longer one of 5 ms to 1000 s, doubled with each failure, and of a bucket of 10 a second with a
// burst of 100. Set Options.RetryRate to -1 to have its behaviour.
func ClientGo() Limiter {
	return MaxOf(Exponential{Base: 5 * time.Millisecond, Max: 1000 * time.Second}, Bucket(10, 100))
}
