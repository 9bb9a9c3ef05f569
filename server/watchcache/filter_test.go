// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestShards shows that each object is in one of two shards, in lists and in watches, and that what
// is wrong with a selector is the answer.
func TestShards(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		halves := []watchcache.Filter{
			{Shard: "shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')"},
			{Shard: "shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')"},
		}
		lower, upper := r.watch(watchcache.WatchOptions{Filter: halves[0]}), r.watch(watchcache.WatchOptions{Filter: halves[1]})
		r.create("abc/one") // the hash of abc begins with e7, that of shop with 46
		r.create("shop/one")
		r.update("shop/one")
		r.remove("abc/one")
		r.wantNext(lower, "ADDED shop/one@3", "MODIFIED shop/one@4")
		r.wantNext(upper, "ADDED abc/one@2", "DELETED abc/one@5")
		for i, want := range []string{"shop/one@4", ""} {
			l, err := r.cache.List(t.Context(), watchcache.ListOptions{Filter: halves[i], Limit: 1})
			if err != nil || strings.Join(keys(l.Objects), " ") != want || l.Remaining != -1 {
				t.Errorf("list: %+v, %v, want %s", l, err, want)
			}
		}
		wrong := watchcache.Filter{Shard: "shardRange(x)"}
		if _, err := r.cache.List(t.Context(), watchcache.ListOptions{Filter: wrong}); err == nil || !strings.Contains(err.Error(), "listing: the shard selector") {
			t.Errorf("list: %v", err)
		}
		if _, err := r.cache.Watch(t.Context(), watchcache.WatchOptions{Filter: wrong}); err == nil || !strings.Contains(err.Error(), "watching: the shard selector") {
			t.Errorf("watch: %v", err)
		}
	})
}
