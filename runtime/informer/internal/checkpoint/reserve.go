// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"runtime/metrics"
	"strconv"
	"strings"
)

// mostMemory is how many times as much memory as the file objects take at most, for reserve.
const mostMemory = 16

// reserve tells the garbage collector that the heap is about to grow by about so many bytes.
// Otherwise it would run each time that the heap has doubled, on the way from almost nothing to its
// new size, and look at all objects that are there by then. They are new, and none of them is
// garbage.
//
// The collector counts the result, memory that is never touched and so takes no room, as long as it
// is alive: with GOGC=100 it runs when as much again was allocated. When the objects are there, and
// the result is gone, the heap may have the size at which the collector would run next anyway.
//
// It returns nil if the process has too little room for that below its memory limit (GOMEMLIMIT):
// there the collector is right to run more often. Nor does it use a small address space.
func reserve(bytes int64) *strings.Builder {
	if bytes < leastReserve || strconv.IntSize < 64 {
		return nil
	}
	samples := []metrics.Sample{
		{Name: "/gc/gomemlimit:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	limit, used := samples[0].Value.Uint64(), samples[1].Value.Uint64()-samples[2].Value.Uint64()
	bytes += bytes / 2 // for what is made along with the objects; and it runs a little earlier
	if used+2*uint64(bytes) > limit {
		return nil
	}
	held := new(strings.Builder)
	held.Grow(int(bytes)) // unlike make, it does not clear the memory
	return held
}

// leastReserve is from which size on it makes a difference: the collector lets every heap grow to 4
// MB.
const leastReserve = 1 << 20
