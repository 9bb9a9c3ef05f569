// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/manager/events"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var errStarted = errors.New("Run was called before; make another manager")

// Manager runs controllers by name. Make one with [New]. Any goroutine may call its methods at any
// time.
//
//	Run ─▶ build all ─▶ start informers ─┬─▶ run Always controllers
//	                                     ├─▶ election ─▶ run led controllers
//	                                     └─▶ ring ─▶ run sharded controllers
//	end:   hand over to the ring ─▶ end all ─▶ send last Events ─▶ release the lease
//	       ─▶ stop informers ─▶ stop serving
type Manager struct {
	// set once at construction
	options              Options
	units                []*unit
	always, led, sharded *group
	health, readiness    []*check
	handler              http.Handler
	informersStarted     chan struct{}

	mu       sync.Mutex // mu guards the fields below, and the states of units and groups
	ctx      context.Context
	fail     context.CancelCauseFunc // ends Run with an error
	deadline func() context.Context  // of the end, which begins with the first call; nil before Run
}

// New returns a manager. It makes and starts nothing; [Manager.Run] does. The error lists all
// invalid options.
func New(options Options) (*Manager, error) {
	options.setDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("manager.New: %w", err)
	}
	m := &Manager{options: options, informersStarted: make(chan struct{})}
	m.health, m.readiness = newChecks(options.HealthChecks), newChecks(options.ReadyChecks)
	m.always, m.led, m.sharded = &group{manager: m}, &group{manager: m}, &group{manager: m}
	for _, d := range options.Controllers {
		u := &unit{Descriptor: d, manager: m, wanted: d.selected(options.Select)}
		switch u.group = m.led; {
		case d.Sharded:
			u.group = m.sharded
		case d.Always || options.Election == nil:
			u.group = m.always
		}
		m.units = append(m.units, u)
		u.group.units = append(u.group.units, u)
	}
	if m.options.MetricsHandler == nil {
		m.options.MetricsHandler = providerOf[http.Handler](m)
	}
	m.handler = m.newHandler()
	return m, nil
}

// providerOf returns the factory's provider of metrics, or nil if it has none that is a T.
func providerOf[T any](m *Manager) T {
	provider, _ := m.options.Factory.Base().Metrics().(T)
	return provider
}

// Run makes the selected controllers, starts the informers, and runs the controllers concurrently
// until ctx is done; led ones, while the process leads; sharded ones, while it takes part in the
// ring. If a New fails, Run returns its error before any informer or controller runs.
//
// When a controller fails later, Run logs its error, and /healthz and /readyz are red. The others
// run on, and [Manager.Start] can start it again. Run ends early when the lease of the election or
// of the ring is lost, when the ring's other members have other settings, or when the server of
// Options.Address fails.
//
// At its end, Run hands its part of the ring over while the sharded controllers run on. Meanwhile
// it ends the led ones. Then it ends the others, sends their last Events, releases the lease, and
// stops the informers and the server. It returns after all its goroutines have ended, with
// context.Cause(ctx), or the error that ended it. If Options.ShutdownTimeout passes first, the
// lease is not released, and the error names the controllers that have not returned, and their
// running keys with the times. Run can be called once.
func (m *Manager) Run(ctx context.Context) error {
	fail := func(err error) error { return fmt.Errorf("manager: Run: %w", err) }
	if ctx == nil {
		return fail(errors.New("the context is nil"))
	}
	running, end, err := m.begin(ctx)
	if err != nil {
		return fail(err)
	}
	defer end()
	err = m.run(running)
	if cause := context.Cause(running); cause != nil && !isSame(cause, context.Cause(ctx)) {
		err = errors.Join(cause, err)
	}
	if err != nil {
		return fail(err)
	}
	return context.Cause(ctx)
}

// begin prepares a run. end frees its contexts.
func (m *Manager) begin(ctx context.Context) (running context.Context, end func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx != nil {
		return nil, nil, errStarted
	}
	m.ctx, m.fail = context.WithCancelCause(ctx)
	cancel := func() {}
	m.deadline = sync.OnceValue(func() context.Context {
		deadline, c := context.WithTimeoutCause(context.WithoutCancel(ctx), m.options.ShutdownTimeout,
			fmt.Errorf("ShutdownTimeout of %v has passed", m.options.ShutdownTimeout))
		cancel = c
		return deadline
	})
	return m.ctx, func() {
		m.fail(nil)
		m.deadline() // sets cancel
		cancel()
	}, nil
}

func (m *Manager) run(ctx context.Context) (err error) {
	stopServing, err := m.serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopServing(), m.awaitChecks()) }()
	defer m.endRecorders()
	if err := m.build(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	defer func() {
		expired := m.deadline().Err() != nil // then controllers hang, and still use informers
		if shutdownErr := m.options.Factory.Shutdown(m.deadline()); !expired {
			err = errors.Join(err, shutdownErr)
		}
	}()
	if err := m.options.Factory.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	close(m.informersStarted)

	always, endAlways := context.WithCancel(context.WithoutCancel(ctx))
	defer endAlways()
	result := make(chan error, 1)
	go func() { result <- m.always.run(always) }()
	err = m.participate(ctx)
	endAlways()
	return errors.Join(err, <-result)
}

func (m *Manager) build(ctx context.Context) error {
	for _, u := range m.units {
		if ctx.Err() != nil {
			return nil
		}
		if m.isWanted(u) {
			if err := u.build(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// isSame is ==, also for incomparable error types such as apimachinery's aggregates.
func isSame(a, b error) bool {
	if v := reflect.ValueOf(a); reflect.TypeOf(a) == reflect.TypeOf(b) && v.IsValid() && !v.Comparable() {
		return reflect.DeepEqual(a, b)
	}
	return a == b
}

// Stop ends one controller and waits until its Run has returned. If ctx is done first, the error
// names its running keys and wraps context.Cause(ctx). The controller stays stopped until
// [Manager.Start]. Before Run, and while the process does not lead, Stop keeps the controller from
// starting. Stop returns an error if no controller has this name.
func (m *Manager) Stop(ctx context.Context, name string) error {
	fail := func(err error) error { return fmt.Errorf("manager: Stop %s: %w", name, err) }
	u, err := m.find(name)
	switch {
	case err != nil:
		return fail(err)
	case ctx == nil:
		return fail(errors.New("the context is nil"))
	}
	m.mu.Lock()
	u.wanted = false
	r := u.lastRun
	m.mu.Unlock()
	if r == nil {
		return nil
	}
	r.cancel(errStopped)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fail(fmt.Errorf("it has not returned%s: %w", u.runningKeys(), context.Cause(ctx)))
	}
}

// Start runs a controller that Select left out, or that was stopped, has ended or has failed, and
// makes it if necessary. A led controller begins when the process leads. A running controller runs
// on. Start returns an error if no controller has this name, if its New fails, if it was stopped
// and has not returned yet, and after the end of Run.
func (m *Manager) Start(name string) error {
	fail := func(err error) error { return fmt.Errorf("manager: Start %s: %w", name, err) }
	u, err := m.find(name)
	if err != nil {
		return fail(err)
	}
	if err := m.start(u); err != nil {
		return fail(err)
	}
	return nil
}

func (m *Manager) start(u *unit) error {
	m.mu.Lock()
	ctx := m.ctx
	u.wanted = true
	m.mu.Unlock()
	if ctx == nil {
		return nil // Run makes it
	}
	if err := u.build(ctx); err != nil {
		return err
	}
	// New may have asked for more informers.
	if err := m.options.Factory.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if u.lastRun != nil && !u.lastRun.isDone() && u.lastRun.ctx.Err() != nil {
		return errors.New("it was stopped, and has not returned yet")
	}
	u.startLocked()
	return nil
}

func (m *Manager) find(name string) (*unit, error) {
	for _, u := range m.units {
		if u.is(name) {
			return u, nil
		}
	}
	return nil, fmt.Errorf("no controller has this name; there are %s", namesOf(m.options.Controllers))
}

func (m *Manager) isWanted(u *unit) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return u.wanted
}

func (m *Manager) runOf(u *unit) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	return u.lastRun
}

func (m *Manager) contextFor(d *Descriptor) (*Context, error) {
	config := rest.CopyConfig(m.options.Config)
	leading := func() bool { return true }
	if m.options.Election != nil {
		leading = m.options.Election.Leading
	}
	switch {
	case d.Sharded:
		config = m.options.Ring.Fence(config)
	case m.options.Election != nil && !d.Always:
		config = m.options.Election.Fence(config)
	}
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	config.UserAgent += "/" + d.Name
	client, err := source.NewClient(config)
	if err != nil {
		return nil, err
	}
	recorder, err := events.New(client, d.Name)
	if err != nil {
		return nil, err
	}
	return &Context{
		Name: d.Name, Config: config, Client: client, Recorder: recorder, InformersStarted: m.informersStarted,
		Leading: leading, Metrics: providerOf[metrics.ControllerProvider](m),
	}, nil
}
