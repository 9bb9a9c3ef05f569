// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/manager/internal/fence"
)

// ErrNotLeading is wrapped by the errors of refused requests, and by the cancellation cause of
// requests cut off: this process does not lead.
var ErrNotLeading = errors.New("this process does not lead")

// ErrLost is wrapped by Run's error when this process led and could not renew the lease in time.
var ErrLost = errors.New("the lease was lost")

var (
	errEnded      = fmt.Errorf("%w any more: it has ended", ErrNotLeading)
	errExpired    = fmt.Errorf("%w any more: its last renewal of the lease is too old", ErrNotLeading)
	errTaken      = fmt.Errorf("%w any more: another one has the lease", ErrNotLeading)
	errNotRenewed = fmt.Errorf("%w any more: it could not renew the lease in time", ErrNotLeading)
)

var errRunning = errors.New("it is running already; wait until Run has returned")

// Election is one process's part in an election. Make one with [New]. Any goroutine may call its
// methods at any time.
type Election struct {
	// set once at construction
	options Options
	client  coordinationv1.LeasesGetter
	fence   *fence.Fence

	mu      sync.Mutex // mu guards the fields below
	running bool
	holder  string
}

// New returns an Election that keeps its lease by requests of config. It starts nothing. The error
// names the invalid options, or says why config makes no client.
func New(config *rest.Config, options Options) (*Election, error) {
	fail := func(err error) (*Election, error) { return nil, fmt.Errorf("election.New: %w", err) }
	if config == nil {
		return fail(errors.New("config is nil; get one from clientcmd or rest.InClusterConfig"))
	}
	if err := options.validate(); err != nil {
		return fail(err)
	}
	config = rest.CopyConfig(config)
	config.Timeout = max(time.Second, options.RenewDeadline/2) // leaves time to retry a renewal
	config.QPS = -1
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	config.UserAgent += "/leader-election"
	client, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return fail(err)
	}
	return &Election{options: options, client: client, fence: fence.New(ErrNotLeading, errExpired)}, nil
}

// Run takes part in the election until ctx is done. When this process leads, Run calls lead, once,
// with a context that ends with ctx or when the lease is lost. It renews the lease until lead has
// returned. If lead returns nil, Run releases the lease, and another process can lead at once. If
// lead returns an error, it may have left something running: its requests are cut off, and the
// lease expires.
//
// Run returns after lead and all its goroutines have ended. The error is context.Cause(ctx), wraps
// [ErrLost], or is that of lead. lead may return before ctx is done, which ends the election. Run
// may be called again.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context) error) error {
	if err := e.run(ctx, lead); err != nil {
		return fmt.Errorf("election %s/%s: %w", e.options.Namespace, e.options.Name, err)
	}
	return context.Cause(ctx)
}

// run is Run, but returns nil if ctx ended it.
func (e *Election) run(ctx context.Context, lead func(ctx context.Context) error) error {
	if !e.begin() {
		return errRunning
	}
	defer e.end()
	background := context.WithoutCancel(ctx)
	term := e.fence.Begin(background)
	l := &lock{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.options.Namespace, Name: e.options.Name},
			Client:     e.client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.options.Identity},
		},
	}
	var acquired atomic.Bool
	l.renewed = func(began time.Time) {
		acquired.Store(true)
		term.Extend(began, e.options.LeaseDuration-e.options.Margin)
	}
	l.lost = func() {
		if acquired.Load() { // else another process has led all the time
			term.Close(errTaken)
		}
	}
	l.seen = e.setHolder
	led := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l, Name: e.options.Name,
		LeaseDuration: e.options.LeaseDuration, RenewDeadline: e.options.RenewDeadline, RetryPeriod: e.options.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(led) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	electorCtx, stop := context.WithCancel(background)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		elector.Run(electorCtx)
		term.Close(errNotRenewed)
	}()
	end := func() { // ends the term and the goroutine
		term.Close(errEnded)
		stop()
		<-stopped
	}
	defer end()

	select {
	case <-led:
	case <-ctx.Done():
		end()
		if acquired.Load() { // just now
			<-led
		}
		if acquired.Load() || l.uncertain.Load() {
			e.release(background, l)
		}
		return nil
	}
	leadCtx, cancel := context.WithCancelCause(term.Context())
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	err = lead(leadCtx)
	switch lost := term.Err(); {
	case lost != nil && err != nil:
		return fmt.Errorf("%w: %w; %w", ErrLost, lost, err)
	case lost != nil:
		return fmt.Errorf("%w: %w", ErrLost, lost)
	case err != nil:
		return err
	}
	end()
	e.release(background, l)
	return nil
}

func (e *Election) release(ctx context.Context, l *lock) {
	ctx, cancel := context.WithTimeout(ctx, e.options.RenewDeadline)
	defer cancel()
	if err := l.release(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "The lease was not released; the next process leads when it has expired", "lease", l.Describe())
	}
}

func (e *Election) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		return false
	}
	e.running = true
	return true
}

func (e *Election) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = false
}

// Name returns the name of the Lease.
func (e *Election) Name() string { return e.options.Name }

// Leading reports whether this process leads and its requests pass.
func (e *Election) Leading() bool {
	_, err := e.fence.Current()
	return err == nil
}

// Holder returns the identity of the lease's holder, as this process last saw it; "" if no process
// has the lease, or this one has not looked yet. A holder that has ended may still be shown.
func (e *Election) Holder() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.holder
}

func (e *Election) setHolder(identity string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.holder = identity
}

// Fence returns a copy of config for clients that only a leader may use. Their requests leave this
// process only while it leads. Before and after, they fail with an error that wraps
// [ErrNotLeading]; pending ones are cut off when the lease is lost.
//
// Each client of the copy has its own connections, made by config.Dial if that is set, and closed
// when the lease is lost. A config with its own Transport keeps that. Then nothing looks at the
// clock between the start and the end of a request, except when its body is read: a request without
// a body may leave late if the process is stopped in between.
func (e *Election) Fence(config *rest.Config) *rest.Config {
	return e.fence.Wrap(config)
}
