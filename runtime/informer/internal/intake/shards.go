// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// An API server with shards (KEP-5866) sends the objects whose UID or namespace has a hash in given
// ranges. A bucket by UID is such a range, if objects are not in the buckets of owners. A bucket by
// namespace is not, because it mixes the hash once more; but each of its namespaces is a range, of
// one hash.
//
// Servers that don't know shards ignore the selector, so the reader drops objects of other buckets
// in any case. The answer to a list shows which of the two the server does; that to a watch-list
// doesn't, so shards are read by lists. A server that ignores selectors gets none for the rest of
// the run, because each new namespace needs another selector, and so a list.

// maxRanges is the largest number of ranges of UIDs in a request: about 6 kB.
const maxRanges = 64

// askTimeout bounds the requests that find out about the server. A list waits for them.
const askTimeout = 5 * time.Second

var errNoWatchList = fmt.Errorf("a list shows whether the server knows shards: %w", errors.ErrUnsupported)

// sharding is a server's answer to shard selectors.
type sharding uint8

const (
	shardingUnknown sharding = iota
	shardingApplied
	shardingIgnored // or refused
)

// shardedList is a list whose requests have a selector.
type shardedList struct {
	selector string // of all pages; "" for a list of everything
	objects  int    // received, so far
}

// namespacesToAskFor returns the namespaces of the next full state; nil for all. Those of the
// table's objects are among them: the table may be ahead of the list of namespaces. mu is held.
func (p *part) namespacesToAskFor() map[string]struct{} {
	if p.wanted.namespaces == nil || p.server == shardingIgnored {
		return nil
	}
	all := maps.Clone(p.wanted.namespaces)
	for namespace := range p.stream.intake.table.Version().Namespaces {
		if p.wanted.buckets.Has(p.stream.intake.config.Partition.BucketOfKey(namespace, "")) {
			all[namespace] = struct{}{}
		}
	}
	return all
}

// selector returns the shard selector of the next request, "" for all objects.
func (p *part) selector() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.selectorOf(p.listings[len(p.listings)-1].covers)
}

// selectorOf returns the shard selector of a selection; "" for all objects. mu is held.
func (p *part) selectorOf(s selection) string {
	config := p.stream.intake.config.Partition
	switch {
	case p.server == shardingIgnored:
	case s.namespaces != nil:
		var names []string
		for namespace := range s.namespaces {
			if s.buckets.Has(config.BucketOfKey(namespace, "")) {
				names = append(names, namespace)
			}
		}
		return shard.ByNamespace(names...)
	case config.By == partition.ByUID && len(config.Roots) == 0:
		return selectorOfUIDs(s.buckets, config.Buckets)
	}
	return ""
}

// selectorOfUIDs returns a selector of the UIDs in buckets, "" if it would be too long, or if it
// would select all or nothing.
func selectorOfUIDs(buckets partition.Set, n int) string {
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

// selectorOfPage returns the selector of a page of a list.
func (p *part) selectorOfPage(first bool) string {
	if first {
		p.list = shardedList{selector: p.selector()}
	}
	return p.list.selector
}

// answered learns about the server from a page of a list with a number of the part's objects.
func (p *part) answered(ctx context.Context, result source.ListResult, received int) {
	p.list.objects += received
	server := shardingUnknown
	switch asked := p.list.selector; {
	case asked == "":
		p.sharded.Store(false)
		return
	case result.Sharded:
		server = shardingApplied
	case result.Skipped > 0 && p.selector() == asked: // otherwise they may be of buckets just lost
		server = shardingIgnored
	case result.Continue == "":
		server = p.ask(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if server != shardingUnknown {
		p.server = server
	}
	p.sharded.Store(p.server == shardingApplied)
}

// failed notes that a request has failed. A server or a proxy may refuse a long selector.
func (p *part) failed(selector string, err error) {
	if selector != "" && reason.Of(err) == reason.Refused {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.server = shardingIgnored
	}
}

// ask finds out about a server that has sent objects of the part only, or none, and hasn't echoed
// the selector. Nothing is known of a server whose collection is empty.
func (p *part) ask(ctx context.Context) sharding {
	p.mu.Lock()
	known := p.server
	p.mu.Unlock()
	if known != shardingUnknown {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	switch applied, err := source.HonorsShards(ctx, p.stream.source, p.list.selector); {
	case err != nil:
		return shardingUnknown
	case applied:
		return shardingApplied
	case p.list.objects > 0:
		return shardingIgnored
	}
	return shardingUnknown
}

// IsSharded reports whether the server has sent, for the last list, objects of the stream's part
// only.
func (s *Stream) IsSharded() bool { return s.part != nil && s.part.sharded.Load() }
