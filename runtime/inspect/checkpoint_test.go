// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
)

// TestCheckpointsAreShown: of a process that writes one, of the next process, and of one whose
// write fails.
func TestCheckpointsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShop(pod("shop", "blue"))
		process := func(opts ...informer.Option) (text string) {
			f := server.factory(t, opts...)
			factories.For[*corev1.Pod](f, podResource)
			defer start(t, f)()
			time.Sleep(2 * time.Second)
			return page(t, inspect.Handler(f), "/")
		}
		contains(t, process(informer.WithCheckpoint(dir)), "none checkpoint ", " bytes, written 1 second ago")
		server.Pods.Create(pod("shop", "red"))
		contains(t, process(informer.WithCheckpoint(dir)), " bytes, written 3 seconds ago")
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		contains(t, process(informer.WithCheckpoint(file)), "none checkpoint not written mkdir "+file, "none is written")
		text := process(informer.WithCheckpoint(dir), informer.WithNamespace("shop", "bank"))
		contains(t, text, "in bank healthy", "none checkpoint ", " bytes, written 1 second ago")
	})
}
