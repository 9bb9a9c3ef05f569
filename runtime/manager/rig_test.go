// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	prom "github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var discard = logr.Discard()

func TestMain(m *testing.M) {
	if _, ok := os.LookupEnv(logArgsEnv); ok {
		logSome()
		return
	}
	klog.SetLogger(discard) // of client-go's elector
	goleak.VerifyTestMain(m)
}

var (
	inBubble = informertest.WithRig(newRig)
	same     = informertest.SameText
	pass     = informertest.Pass

	mapsResource   = corev1.SchemeGroupVersion.WithResource("configmaps")
	eventsResource = eventsv1.SchemeGroupVersion.WithResource("events")
	errStop        = informertest.ErrStop
)

// rig is a server in memory with ConfigMaps, Leases and Events, and a factory for a manager.
type rig struct {
	t       *testing.T
	server  *sourcetest.Server
	maps    *sourcetest.Collection[*corev1.ConfigMap]
	config  *rest.Config
	sent    *sourcetest.Collection[*eventsv1.Event]
	factory *factories.Factory

	mu     sync.Mutex // mu guards the fields below
	events []string
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, server: sourcetest.New()}
	r.maps = sourcetest.Serve[*corev1.ConfigMap](r.server, mapsResource, "ConfigMap")
	sourcetest.Serve[*coordinationv1.Lease](r.server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	r.sent = sourcetest.Serve[*eventsv1.Event](r.server, eventsResource, "Event")
	r.config = r.server.Config()
	r.factory = r.newFactory()
	return r
}

func (r *rig) newFactory(options ...informer.Option) *factories.Factory {
	r.t.Helper()
	client, err := source.NewClient(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	return factories.New(client, append(options, informer.WithLogger(logr.Discard()))...)
}

// withMetrics gives the rig a factory with metrics, and returns their registry.
func (r *rig) withMetrics() *prom.Registry {
	r.t.Helper()
	registry := prom.NewRegistry()
	provider, err := prometheus.New(registry)
	if err != nil {
		r.t.Fatal(err)
	}
	r.factory = r.newFactory(informer.WithMetrics(provider))
	return registry
}

// create creates ConfigMaps in the namespace shop.
func (r *rig) create(names ...string) {
	for _, name := range names {
		r.maps.Create(informertest.ConfigMap(name))
	}
}

func (r *rig) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

// take returns the events since the last call.
func (r *rig) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// recording returns a controller that notes its construction, start and end.
func (r *rig) recording(name string, change ...func(*manager.Descriptor)) manager.Descriptor {
	d := controllerOf(name, func(ctx context.Context) error {
		r.note("run %s", name)
		<-ctx.Done()
		r.note("end %s", name)
		return context.Cause(ctx)
	})
	original := d.New
	d.New = func(ctx context.Context, c *manager.Context) (manager.Runnable, error) {
		r.note("make %s", name)
		return original(ctx, c)
	}
	for _, f := range change {
		f(&d)
	}
	return d
}

// controllerOf returns a controller with a function as Run.
func controllerOf(name string, run manager.RunnableFunc) manager.Descriptor {
	return manager.Descriptor{Name: name, New: func(context.Context, *manager.Context) (manager.Runnable, error) { return run, nil }}
}

// blocking returns a controller of the ConfigMaps whose reconciles wait for release.
func (r *rig) blocking(name string, release chan struct{}) manager.Descriptor {
	return r.reconciling(name, func(context.Context, object.Key) (controller.Result, error) {
		<-release
		return controller.Result{}, nil
	}, controller.Options{})
}

// reconciling returns a controller that reconciles the ConfigMaps.
func (r *rig) reconciling(name string, reconcile controller.Reconcile, options controller.Options) manager.Descriptor {
	return manager.Descriptor{Name: name, New: func(context.Context, *manager.Context) (manager.Runnable, error) {
		return controller.New(name, reconcile, options, controller.For(r.informer()))
	}}
}

func always(d *manager.Descriptor)   { d.Always = true }
func disabled(d *manager.Descriptor) { d.Disabled = true }

// new returns a manager. change sets its options.
func (r *rig) new(change func(*manager.Options)) *manager.Manager {
	r.t.Helper()
	options := manager.Options{Config: r.config, Factory: r.factory}
	change(&options)
	m, err := manager.New(options)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// running is a manager that runs.
type running struct {
	*manager.Manager
	*informertest.Running
}

// run starts a manager, which ends with the test.
func (r *rig) run(change func(*manager.Options)) *running {
	r.t.Helper()
	return r.start(r.new(change))
}

// runs starts a manager of these controllers.
func (r *rig) runs(controllers ...manager.Descriptor) *running {
	r.t.Helper()
	return r.run(func(o *manager.Options) { o.Controllers = controllers })
}

func (r *rig) start(m *manager.Manager) *running {
	run := &running{m, informertest.Go(r.t, m.Run)}
	synctest.Wait()
	return run
}

// get sends a request to a manager from this machine.
func get(m *manager.Manager, path string) (code int, body string) {
	req := httptest.NewRequest("GET", path, nil)
	req.RemoteAddr, req.Host = "127.0.0.1:4711", "localhost:8080"
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// checkGet checks a manager's response to a request from this machine.
func checkGet(t *testing.T, m *manager.Manager, path string, code int, parts ...string) {
	t.Helper()
	got, body := get(m, path)
	if got != code {
		t.Errorf("GET %s: status %d, want %d: %s", path, got, code, body)
	}
	for _, part := range parts {
		if !strings.Contains(body, part) {
			t.Errorf("GET %s: the response lacks %q:\n%s", path, part, body)
		}
	}
}

// states returns the states of all controllers, by /debug/controllers.
func states(t *testing.T, m *manager.Manager) (text string) {
	t.Helper()
	var list []struct{ Name, State string }
	if _, body := get(m, "/debug/controllers"); json.Unmarshal([]byte(body), &list) != nil {
		t.Fatal(body)
	}
	for _, c := range list {
		text += " " + c.Name + ":" + c.State
	}
	return strings.TrimSpace(text)
}

// wantError checks the text of an error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v\nwant         %s", err, want)
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

type configMap = corev1.ConfigMap

// informer returns the factory's informer of ConfigMaps.
func (r *rig) informer() *informer.SharedIndexInformer[*configMap] {
	return factories.For[*configMap](r.factory, mapsResource)
}

// remote returns the status code of a manager's response to a request from another machine.
func remote(m *manager.Manager, path string) int { return getRemotely(m, path).Code }

func getRemotely(m *manager.Manager, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}
