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

// kit is a queue in a bubble, with helpers of tests.
type kit struct {
	*workqueue.Queue[string]
	t     *testing.T
	start time.Time
}

// inBubble runs a test in a bubble, where time passes only while all goroutines wait.
func inBubble(t *testing.T, opts workqueue.Options, test func(kit)) {
	t.Helper()
	inFairBubble(t, opts, nil, test)
}

// inFairBubble is inBubble with a queue made by NewFair.
func inFairBubble(t *testing.T, opts workqueue.Options, tenantOf func(string) string, test func(kit)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(kit{workqueue.NewFair(opts, tenantOf), t, time.Now()})
	})
}

// exactDelays are options without jitter: the delay after the first failure is 10 ms, and doubles
// with each further one.
var exactDelays = workqueue.Options{
	Limiter: workqueue.Exponential{Base: 10 * time.Millisecond, Max: time.Second}, RetryRate: -1,
}

var (
	succeeded = workqueue.Outcome{}
	failed    = workqueue.Outcome{Failed: true}
)

// get gets a key, and checks it and the time since the start.
func (k kit) get(want string, after time.Duration) workqueue.Item[string] {
	k.t.Helper()
	item, err := k.Get(context.Background())
	if err != nil {
		k.t.Fatal(err)
	}
	if took := time.Since(k.start); item.Key != want || took != after {
		k.t.Fatalf("Get() = %q after %v, want %q after %v", item.Key, took, want, after)
	}
	return item
}

// shutDown shuts the queue down, which must not wait.
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
