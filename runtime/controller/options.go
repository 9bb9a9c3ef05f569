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
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// Options are the settings of a [Controller]. The zero value is ready to use.
type Options struct {
	// Concurrency is how many reconciles run at once, of different keys. 0 stands for 1.
	Concurrency int
	// Timeout is how long a reconcile may take: its context is done after that. The reconcile
	// has to return by itself. 0 means that there is no limit.
	Timeout time.Duration
	// MaxRetries is how often a key that fails is tried again in a row, 255 times at most. After
	// one failure more it is dropped until its next event, and its failures are forgotten. 0 means
	// without end.
	MaxRetries int
	// AwaitTimeout is how long the next reconcile of a key waits at most for what the last one has
	// written; see [Wrote]. 0 stands for 5 s.
	AwaitTimeout time.Duration
	// Grace is how much longer than the context of Run those of running reconciles last. 0 means
	// that they end with it.
	Grace time.Duration
	// ShutDown decides about the keys that are queued when the context of Run is done. By
	// default they are dropped. workqueue.Finish and workqueue.Drain have the workers reconcile
	// them, for as long as Grace, which must be positive then; what is left is dropped and logged.
	// Keys that wait for a time, for a retry or for a write are dropped in any case.
	ShutDown workqueue.Mode
	// Reads are informers that the reconciles read, besides those of the watches, so that they
	// must have synced before the first reconcile.
	Reads []Informer
	// SyncTimeout is how long Run waits until all informers have synced and all handlers have
	// handled their initial objects. After that, it returns an error. 0 means without limit.
	SyncTimeout time.Duration
	// Sync ends this wait early; see [informer.FailOn].
	Sync []informer.WaitOption
	// Queue are the settings of the work queue. An empty Name becomes that of the controller.
	Queue workqueue.Options
	// Metrics gets the metrics of the controller, and of its queue, unless Queue.Metrics is set.
	// Nil means that there are none.
	Metrics metrics.ControllerProvider
	// Crash lets a panic in a reconcile end the process.
	Crash bool
}

// mostRetries is how many failures in a row a work queue counts.
const mostRetries = 255

// validate checks the arguments of New, and fills in the defaults.
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
	case o.MaxRetries > mostRetries:
		return fmt.Errorf("MaxRetries %d: a queue counts %d failures in a row at most", o.MaxRetries, mostRetries)
	case o.ShutDown > workqueue.Drain:
		return fmt.Errorf("unknown ShutDown %d", o.ShutDown)
	case o.ShutDown != workqueue.Drop && o.Grace == 0:
		return errors.New("ShutDown leaves keys to reconcile, and Grace is 0: set how long that may take")
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
	if o.Queue.Metrics == nil && o.Metrics != nil {
		o.Queue.Metrics = o.Metrics
	}
	return nil
}

// applyTo makes Options an [Option].
func (o Options) applyTo(p *plan) error {
	p.options = o
	return nil
}

func isNilPointer(i Informer) bool {
	v := reflect.ValueOf(i)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
