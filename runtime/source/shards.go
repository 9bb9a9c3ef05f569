// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// HonorsShards reports whether the server of src sends only the objects of a shard. src must have
// no ShardSelector of its own. It makes up to three lists of one object:
//
//   - of the shard, in which a server may echo the selector. API servers (1.37) do that in lists of
//     built-in kinds, but not in those of custom resources or of metadata, nor in watches
//   - of a shard that has hardly an object: a server that ignores selectors sends one
//   - of everything, because nothing can be told of an empty collection; then it returns false
//
// The answer is about the traffic only: an [HTTP] source applies the selector in any case. It may
// change: of several API servers behind one address some may have the feature, and others not.
//
// It returns the errors of List. A proxy may refuse a long selector with 414 or 431.
func HonorsShards[T object.Object](ctx context.Context, src Source[T], shardSelector string) (bool, error) {
	if shardSelector == "" {
		return false, nil
	}
	result, _, err := listOne(ctx, src, shardSelector)
	if err != nil || result.Sharded {
		return result.Sharded, err
	}
	_, objects, err := listOne(ctx, src, shard.ByUID())
	if err != nil || objects > 0 {
		return false, err
	}
	_, objects, err = listOne(ctx, src, "")
	return objects > 0, err
}

// listOne returns the number of objects sent by the server, at most 1 unless it ignores the limit.
func listOne[T object.Object](ctx context.Context, src Source[T], shardSelector string) (result ListResult, objects int, err error) {
	drop := func(object.Meta) bool { return false }
	result, err = src.List(ctx, ListOptions{Limit: 1, ShardSelector: shardSelector, Keep: drop}, func(T) error { objects++; return nil })
	if err != nil {
		return ListResult{}, 0, fmt.Errorf("asking whether the server has shards: %w", err)
	}
	return result, objects + result.Skipped, nil
}
