// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/reason"
)

// An API server with shards (KEP-5866) sends the objects whose UID has a hash in given ranges. A
// bucket by UID is such a range, if objects are not in the buckets of owners. Servers that don't
// know shards ignore the ranges, so the reader drops objects of other buckets in any case. The
// answer to a list shows which of the two the server does; that to a watch-list doesn't, so these
// parts are read by lists.

// maxRanges is the largest number of ranges in a request: about 6 kB.
const maxRanges = 64

var errNoWatchList = fmt.Errorf("a list shows whether the server knows shards: %w", errors.ErrUnsupported)

// canShard reports whether buckets are ranges of a server's hash.
func (p *part) canShard() bool {
	config := p.stream.intake.config.Partition
	return config.By == partition.ByUID && len(config.Roots) == 0
}

// selector returns the shard selector of the next request, "" for all objects.
func (p *part) selector() string {
	if p.refused || !p.canShard() {
		return ""
	}
	p.mu.Lock()
	covers := p.listings[len(p.listings)-1].covers
	p.mu.Unlock()
	return selectorOf(covers, p.stream.intake.config.Partition.Buckets)
}

// selectorOf returns a selector of the UIDs in buckets, "" if it would be too long, or if it would
// select all or nothing.
func selectorOf(buckets partition.Set, n int) string {
	if buckets.IsEmpty() || buckets.Len() == n {
		return ""
	}
	shift := 64 - bits.TrailingZeros(uint(n))
	var ranges []shard.Range
	for b := range buckets.All() {
		// The end of the last bucket, 2^64, overflows to 0.
		ranges = append(ranges, shard.Range{First: uint64(b) << shift, Last: uint64(b+1)<<shift - 1})
	}
	selector := shard.ByUID(ranges...)
	if strings.Count(selector, "||") >= maxRanges {
		return ""
	}
	return selector
}

// answered notes what the answer to a request with a selector shows about the server.
func (p *part) answered(selector string, sharded bool, err error) {
	switch {
	case err == nil:
		p.sharded.Store(selector != "" && sharded)
	case selector != "" && reason.Of(err) == reason.Refused:
		p.refused = true
	}
}

// IsSharded reports whether the server has sent, for the last list, objects of the stream's part
// only.
func (s *Stream) IsSharded() bool { return s.part != nil && s.part.sharded.Load() }
