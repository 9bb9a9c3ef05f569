// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Webhooks returns an entry for the Controllers of [manager.Options], named webhooks, which runs
// controller-runtime's webhook server. Each setup registers webhooks, such as kubebuilder's
// SetupTeamWebhookWithManager does by the builder of controller-runtime: defaulters, validators and
// converters of the kinds in scheme. The server reloads its certificate when the files of
// options.CertDir change.
//
// The entry has flags for AddFlags of [manager.Options]: --webhook-port and --webhook-cert-path.
//
// The server runs in every process, whether it leads or not. /readyz is red until the server
// accepts connections, and /healthz if it could not start, for example because the certificate is
// missing.
//
// The manager passed to setups is one of controller-runtime. It runs whatever a setup adds to it,
// in every process, and its client reads through a [Cache] of its own. To read from the informers
// of the program instead, give a defaulter or validator a lister.
func Webhooks(scheme *runtime.Scheme, options webhook.Options, setups ...func(ctrlmanager.Manager) error) manager.Descriptor {
	return manager.Descriptor{
		Name: "webhooks", Always: true,
		Flags: func(flags *pflag.FlagSet) {
			flags.IntVar(&options.Port, "webhook-port", cmp.Or(options.Port, webhook.DefaultPort), "port of the webhooks")
			flags.StringVar(&options.CertDir, "webhook-cert-path", options.CertDir, "folder with the certificate of the webhooks, tls.crt, and its key, tls.key; empty for k8s-webhook-server/serving-certs in the folder for temporary files")
		},
		New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
			w := &webhooks{name: c.Name, config: c.Config, scheme: scheme, options: options, setups: setups}
			if err := w.validate(); err != nil {
				return nil, err
			}
			var err error
			w.next, err = w.build()
			return w, err
		},
	}
}

var _ inspect.Controller = (*webhooks)(nil)

type webhooks struct {
	// set once at construction
	name    string
	config  *rest.Config
	scheme  *runtime.Scheme
	options webhook.Options
	setups  []func(ctrlmanager.Manager) error

	mu   sync.Mutex          // mu guards the fields below
	next ctrlmanager.Manager // for the next Run; nil if that has to build one
	run  *webhookRun         // nil between runs
}

type webhookRun struct {
	check   healthz.Checker // connects to the server
	started atomic.Bool     // check has passed
}

func (w *webhooks) validate() error {
	var errs []error
	if w.scheme == nil {
		errs = append(errs, errors.New("the scheme is nil; make one with the kinds of the webhooks"))
	}
	if w.options.WebhookMux != nil {
		errs = append(errs, errors.New("the WebhookMux is set; register handlers in a setup, with mgr.GetWebhookServer().Register"))
	}
	for n, setup := range w.setups {
		if setup == nil {
			errs = append(errs, fmt.Errorf("setup %d of %d is nil", n+1, len(w.setups)))
		}
	}
	return errors.Join(errs...)
}

// build returns a manager with a webhook server, which can be started once.
func (w *webhooks) build() (ctrlmanager.Manager, error) {
	untilEnd := time.Duration(-1) // the other manager limits the time
	mgr, err := ctrlmanager.New(w.config, ctrlmanager.Options{
		Scheme:                  w.scheme,
		NewCache:                NewCache,
		WebhookServer:           webhook.NewServer(w.options),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: &untilEnd,
	})
	if err != nil {
		return nil, err
	}
	for n, setup := range w.setups {
		if err := setup(mgr); err != nil {
			return nil, fmt.Errorf("setup %d of %d: %w", n+1, len(w.setups), err)
		}
	}
	return mgr, nil
}

// Run implements [manager.Runnable].
func (w *webhooks) Run(ctx context.Context) error {
	mgr, err := w.begin()
	if err != nil {
		return err
	}
	defer w.end()
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("webhook server: %w", err)
	}
	return nil
}

func (w *webhooks) begin() (ctrlmanager.Manager, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mgr := w.next
	if w.next = nil; mgr == nil {
		var err error
		if mgr, err = w.build(); err != nil {
			return nil, err
		}
	}
	w.run = &webhookRun{check: mgr.GetWebhookServer().StartedChecker()}
	return mgr, nil
}

func (w *webhooks) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run = nil
}

// Status implements inspect.Controller. Synced reports whether the server accepts connections.
func (w *webhooks) Status() controller.Status {
	w.mu.Lock()
	run := w.run
	w.mu.Unlock()
	s := controller.Status{Name: w.name, Running: run != nil}
	if run == nil {
		return s
	}
	if !run.started.Load() {
		if err := run.check(nil); err != nil {
			s.Missing = []string{err.Error()}
			return s
		}
		run.started.Store(true)
	}
	s.Synced = true
	return s
}

// StatusOf implements inspect.Controller. The server has no queue.
func (w *webhooks) StatusOf(object.Key) (status controller.KeyStatus, known bool) {
	return status, false
}
