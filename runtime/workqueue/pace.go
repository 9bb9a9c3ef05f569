// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"math"
	"time"
)

// pace is a rate limit: the generic cell rate algorithm of ITU-T I.371.
type pace struct {
	interval time.Duration // between two turns; 0 means no limit
	slack    time.Duration // how early a turn may be, which allows bursts
	next     time.Duration // the time of the next turn
}

func newPace(perSecond float64, burst int) pace {
	if !(perSecond > 0) {
		return pace{}
	}
	interval := max(1, time.Duration(min(float64(time.Second)/perSecond, float64(time.Hour))))
	ahead := min(time.Duration(max(1, burst))-1, math.MaxInt64/2/interval) // no overflow
	return pace{interval: interval, slack: interval * ahead}
}

func (p *pace) open() time.Duration { return p.next - p.slack }

func (p *pace) take(now time.Duration) bool {
	if now < p.open() {
		return false
	}
	p.next = max(p.next, now) + p.interval
	return true
}
