// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// Options are the settings of a [Controller]. The zero value is ready to use.
type Options struct {
	// Concurrency is the maximum number of concurrent reconciles, of different keys. 0 means 1.
	Concurrency int
	// Timeout limits a reconcile: its context is done after this time. The reconcile must return by
	// itself. 0 means no limit.
	Timeout time.Duration
	// MaxRetries is the maximum number of consecutive retries of a failing key, at most 255. After
	// one more failure the key is dropped until its next event, and its failures are forgotten. 0
	// means no limit.
	MaxRetries int
	// AwaitTimeout limits how long the next reconcile of a key waits for the writes of the last
	// one; see [Wrote]. 0 means 5 s.
	AwaitTimeout time.Duration
	// Grace is the time between the end of Run's context and the end of the contexts of running
	// reconciles. 0 means both end together.
	Grace time.Duration
	// ShutDown decides about the keys queued when Run's context ends. By default they are dropped.
	// With workqueue.Finish and workqueue.Drain, workers reconcile them for up to Grace, which must
	// then be positive; the rest is dropped and logged. Keys that wait for a time, a retry or a
	// write are always dropped.
	ShutDown workqueue.Mode
	// Reads are informers that reconciles read, besides those of the watches. They, too, must have
	// synced before the first reconcile, unless their resource doesn't exist and
	// [informer.WithOptionalResource] allows that.
	Reads []Informer
	// SyncTimeout limits Run's wait for informers to sync and handlers to handle their initial
	// objects. After it, Run returns an error. 0 means no limit.
	SyncTimeout time.Duration
	// Sync ends this wait early; see [informer.FailOn].
	Sync []informer.WaitOption
	// Queue configures the work queue. An empty Name becomes the controller's name.
	Queue workqueue.Options
	// Tenant returns the tenant of a key, such as its namespace. Within each level of the queue,
	// reconciles then go round over the tenants with ready keys; see [workqueue.NewFair]. It is
	// called by the goroutines that queue keys: those of handlers, Every, Enqueue, and Run for keys
	// of earlier calls of Enqueue. A panic in it goes there, and the key is not queued. Nil means
	// no tenants. With a Ring, it must call no method of the controller.
	Tenant func(key object.Key) string
	// Ring, a *shard.Ring, divides the keys among the replicas of the program; see the package
	// documentation. The informers should read by the same ring: see informer.WithRing. With
	// shard.ByUID, the controller must have a For. Nil means this process reconciles all keys.
	Ring Ring
	// Metrics receives the metrics of the controller and, unless Queue.Metrics is set, of its
	// queue. Nil means the provider set by informer.WithMetrics for the first informer that has a
	// ControllerProvider, of the watches and of Reads; without one there are no metrics.
	Metrics metrics.ControllerProvider
	// Crash lets a panic in a reconcile end the process.
	Crash bool
}

// maxFailures is the highest failure count of a work queue.
const maxFailures = 255

func validate(name string, noFunction bool, o *Options) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case noFunction:
		return errors.New("the function is nil")
	case o.Concurrency < 0:
		return fmt.Errorf("negative Concurrency %d", o.Concurrency)
	case o.MaxRetries < 0:
		return fmt.Errorf("negative MaxRetries %d", o.MaxRetries)
	case o.MaxRetries > maxFailures:
		return fmt.Errorf("MaxRetries %d: a queue counts %d failures in a row at most", o.MaxRetries, maxFailures)
	case o.ShutDown > workqueue.Drain:
		return fmt.Errorf("unknown ShutDown %d", o.ShutDown)
	case o.ShutDown != workqueue.Drop && o.Grace == 0:
		return errors.New("ShutDown is Finish or Drain, and Grace is 0; set the time to reconcile the remaining keys")
	case slices.ContainsFunc(o.Reads, func(i Informer) bool { return i == nil || isNilPointer(i) }):
		return errors.New("one of Reads is nil")
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Timeout", o.Timeout}, {"AwaitTimeout", o.AwaitTimeout}, {"Grace", o.Grace}, {"SyncTimeout", o.SyncTimeout}} {
		if d.value < 0 {
			return fmt.Errorf("negative %s %v", d.name, d.value)
		}
	}
	o.Reads = slices.Clone(o.Reads)
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	if o.AwaitTimeout == 0 {
		o.AwaitTimeout = 5 * time.Second
	}
	if o.Queue.Name == "" {
		o.Queue.Name = name
	}
	return nil
}

// withMetrics returns a copy of o with the defaults of Metrics and Queue.Metrics.
func (o Options) withMetrics(watches []Watch) Options {
	var informers []Informer
	for _, w := range watches {
		informers = append(informers, w.informers...)
	}
	for _, i := range append(informers, o.Reads...) {
		if o.Metrics != nil {
			break
		}
		if i, ok := i.(interface{ Metrics() metrics.Provider }); ok {
			o.Metrics, _ = i.Metrics().(metrics.ControllerProvider)
		}
	}
	if o.Queue.Metrics == nil && o.Metrics != nil {
		o.Queue.Metrics = o.Metrics
	}
	return o
}

func (o Options) applyTo(p *plan) error {
	p.options = o
	return nil
}

func isNilPointer(value any) bool {
	v := reflect.ValueOf(value)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
