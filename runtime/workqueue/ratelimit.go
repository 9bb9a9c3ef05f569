// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"math"
	"time"
)

// rateLimit limits retries by the generic cell rate algorithm of ITU-T I.371.
type rateLimit struct {
	interval time.Duration // between two turns; 0 means no limit
	slack    time.Duration // how early a turn may be: the size of a burst
	next     time.Duration // the time of the next turn
}

func newRateLimit(perSecond float64, burst int) rateLimit {
	if !(perSecond > 0) {
		return rateLimit{}
	}
	interval := max(1, time.Duration(min(float64(time.Second)/perSecond, float64(time.Hour))))
	ahead := min(time.Duration(max(1, burst))-1, math.MaxInt64/2/interval) // no overflow
	return rateLimit{interval: interval, slack: interval * ahead}
}

func (p *rateLimit) nextTurn() time.Duration { return p.next - p.slack }

func (p *rateLimit) take(now time.Duration) bool {
	if now < p.nextTurn() {
		return false
	}
	p.next = max(p.next, now) + p.interval
	return true
}
