// SPDX-License-Identifier: Apache-2.0

package deltafifo

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPushBatchKeepsTheOrder pushes more than there is room for: the order stays, and the remaining
// deltas wait for room, or for Close.
func TestPushBatchKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type pod = *metav1.PartialObjectMetadata
		f := New(Options[pod]{Capacity: 3})
		batch := make([]Delta[pod], 8)
		for i := range batch {
			batch[i] = Delta[pod]{Type: Bookmark, ResourceVersion: string(rune('a' + i))}
		}
		pushed := make(chan error, 1)
		go func() { pushed <- f.PushBatch(batch) }()
		synctest.Wait()
		if f.Len() != 3 || len(pushed) != 0 {
			t.Fatalf("%d deltas wait, and %d calls have returned", f.Len(), len(pushed))
		}
		got := ""
		for range 2 {
			deltas, err := f.PopBatch(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range deltas {
				got += d.ResourceVersion
			}
			synctest.Wait()
		}
		if err := <-pushed; err != nil || got != "abcdef" || f.Len() != 2 {
			t.Errorf("popped %q, %d left, PushBatch returned %v", got, f.Len(), err)
		}
		go func() { pushed <- f.PushBatch(batch) }()
		synctest.Wait()
		f.Close()
		if err := <-pushed; err != ErrClosed {
			t.Errorf("got %v, want ErrClosed", err)
		}
		if err := f.PushBatch(nil); err != nil {
			t.Errorf("nothing was pushed, and it failed: %v", err)
		}
	})
}
