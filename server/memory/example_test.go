// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Two writers update the same version: the second update is refused.
func ExampleStorage_Update() {
	storage := memory.New()
	if _, err := storage.Create(context.Background(), []byte(`{"metadata":{"name":"one"}}`)); err != nil {
		fmt.Println(err)
	}
	for range 2 {
		_, err := storage.Update(context.Background(), []byte(`{"metadata":{"name":"one","resourceVersion":"2"}}`))
		fmt.Println(errors.Is(err, watchcache.ErrConflict), storage.Version())
	}
	// Output:
	// false 3
	// true 3
}

// A watch begins after a version. Once that version is compacted, the watch fails, and its caller
// must list again.
func ExampleStorage_Compact() {
	ctx := context.Background()
	storage := memory.New()
	for _, name := range []string{"one", "two"} {
		if _, err := storage.Create(ctx, fmt.Appendf(nil, `{"metadata":{"name":%q}}`, name)); err != nil {
			fmt.Println(err)
		}
	}
	errEnough := errors.New("seen enough")
	follow := func(after uint64) error {
		return storage.Watch(ctx, after, func(e watchcache.Event) error {
			fmt.Println(e.Type, e.Object.Key, "at version", e.Version)
			if e.Version == storage.Version() {
				return errEnough
			}
			return nil
		})
	}
	fmt.Println(follow(1))

	storage.Compact(2)
	var expired *watchcache.ExpiredError
	if errors.As(follow(1), &expired) {
		fmt.Println("list again: the changes before version", expired.Oldest, "are gone")
	}
	fmt.Println(follow(2))
	// Output:
	// ADDED one at version 2
	// ADDED two at version 3
	// seen enough
	// list again: the changes before version 2 are gone
	// ADDED two at version 3
	// seen enough
}
