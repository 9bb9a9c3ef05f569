// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"math"
	"time"
)

// pace limits how many a second may pass: it is the generic cell rate algorithm of ITU-T I.371.
type pace struct {
	interval time.Duration // between two, 0 for no limit
	slack    time.Duration // how far ahead of its time one may be, which makes a burst
	next     time.Duration // the time of the next one
}

// newPace returns a pace of so many a second, without a limit if that is not positive.
func newPace(perSecond float64, burst int) pace {
	if !(perSecond > 0) {
		return pace{}
	}
	interval := max(1, time.Duration(min(float64(time.Second)/perSecond, float64(time.Hour))))
	ahead := min(time.Duration(max(1, burst))-1, math.MaxInt64/2/interval) // no overflow
	return pace{interval: interval, slack: interval * ahead}
}

// open is when the next one may pass.
func (p *pace) open() time.Duration { return p.next - p.slack }

func (p *pace) take(now time.Duration) bool {
	if now < p.open() {
		return false
	}
	p.next = max(p.next, now) + p.interval
	return true
}
