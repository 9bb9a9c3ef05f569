// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pauses measures for how long this process did not run, because the machine stood still or was
// busy. The other processes of the test have likely paused as well.
type pauses struct {
	longest atomic.Int64 // a time.Duration
}

func watchPauses(t *testing.T) *pauses {
	p := &pauses{}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			before := time.Now()
			time.Sleep(10 * time.Millisecond)
			p.longest.Store(max(p.longest.Load(), int64(time.Since(before))))
		}
	})
	t.Cleanup(func() { cancel(); watching.Wait() })
	return p
}
