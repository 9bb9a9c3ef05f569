// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/memory"
)

// Two writers that have read the same version: the second one is refused.
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
