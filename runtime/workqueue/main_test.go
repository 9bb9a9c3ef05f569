// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kit is a queue in a bubble, and what tests do with it.
type kit struct {
	*workqueue.Queue[string]
	t     *testing.T
	began time.Time
}

// inBubble runs a test in a bubble, where time passes only while all goroutines wait.
func inBubble(t *testing.T, opts workqueue.Options, test func(kit)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(kit{workqueue.New[string](opts), t, time.Now()})
	})
}

// plain are options with which delays are round numbers: 10 ms after the first failure, then twice
// as long each time.
var plain = workqueue.Options{
	Limiter: workqueue.Exponential{Base: 10 * time.Millisecond, Max: time.Second}, RetryRate: -1,
}

var (
	succeeded = workqueue.Outcome{}
	failed    = workqueue.Outcome{Failed: true}
)

// get gets a key, which has to be this one, when that much time has passed since the beginning.
func (k kit) get(want string, after time.Duration) workqueue.Item[string] {
	k.t.Helper()
	item, err := k.Get(context.Background())
	if err != nil {
		k.t.Fatal(err)
	}
	if took := time.Since(k.began); item.Key != want || took != after {
		k.t.Fatalf("got %q after %v, want %q after %v", item.Key, took, want, after)
	}
	return item
}

// shutDown ends the queue, which must not take time.
func (k kit) shutDown(mode workqueue.Mode) {
	k.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.ShutDown(ctx, mode); err != nil {
		k.t.Error(err)
	}
}

const ms = time.Millisecond

func after(d time.Duration) workqueue.AddOptions { return workqueue.AddOptions{After: d} }

func at(l workqueue.Level) workqueue.AddOptions { return workqueue.AddOptions{Level: l} }
