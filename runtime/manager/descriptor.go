// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/manager/events"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Runnable is a controller that a manager runs, such as a *controller.Controller. If it implements
// inspect.Controller, as that does, health and the page show its status. If it is an http.Handler,
// it serves /debug/controllers/NAME.
type Runnable interface {
	// Run runs until ctx is done, and returns after everything it started has ended. It is called
	// again after [Manager.Stop] and Start. An error before ctx is done means failure; nil means it
	// has finished.
	Run(ctx context.Context) error
}

// RunnableFunc adapts a function to [Runnable].
type RunnableFunc func(ctx context.Context) error

// Run calls f.
func (f RunnableFunc) Run(ctx context.Context) error { return f(ctx) }

// Descriptor describes a controller: its names, how to make it, and when to run it. Name and New
// are required.
type Descriptor struct {
	// Name is the controller's name. Aliases are other names, such as earlier ones.
	Name    string
	Aliases []string
	// New makes the controller. It must not wait for informers, which start after all controllers
	// are made; the controller's Run may. ctx is done when the manager's run ends. A nil Runnable
	// without an error means there is nothing to run here.
	New func(ctx context.Context, c *Context) (Runnable, error)
	// Flags, unless nil, adds the controller's flags; see [Options.AddFlags].
	Flags func(flags *pflag.FlagSet)
	// Disabled keeps "*" from selecting the controller; its name still does.
	Disabled bool
	// Always runs the controller even while the process does not lead.
	Always bool
	// Sharded runs the controller while the process takes part in Options.Ring, which must be set,
	// whether it leads or not. The controller works on the process's part of the objects. A
	// *controller.Controller must have a controller.Options.Ring then, and none otherwise. All
	// processes of the ring must run the same Sharded controllers.
	Sharded bool
	// KeyLimit is the time one key may run before /healthz is red. 0 means 10 minutes, a negative
	// time no limit.
	KeyLimit time.Duration
	// IdleLimit is the time without the end of a reconcile, while keys are ready, before /healthz
	// is red. 0 means 10 minutes, a negative time no limit.
	IdleLimit time.Duration
}

// Context is the argument of New. Each controller has its own. Informers come from the program's
// factory, a variable that New can use.
type Context struct {
	// Name is the controller's name.
	Name string
	// Config is the manager's, with the controller's name added to the user agent. Unless the
	// controller is Always, the election's fence refuses requests while the process does not lead,
	// even in New. For a Sharded one it is the ring's fence, which refuses requests of a reconcile
	// once the process may not work on its object. Give the reconcile's context to each request;
	// otherwise the fence only asks whether the process takes part. Client is made from Config.
	Config *rest.Config
	Client *source.Client
	// Recorder records Events whose source has the controller's name. The manager runs it while the
	// controller may run: for a led one, while the process leads; for a sharded one, while it takes
	// part in the ring. It sends by Client.
	Recorder *events.Recorder
	// InformersStarted is closed when the informers have been started, after all controllers were
	// made.
	InformersStarted <-chan struct{}
	// Leading reports whether the process leads. Without an election it always does.
	Leading func() bool
	// Metrics is the provider of Options.Factory, or nil. A controller that watches an informer of
	// that factory uses it without being told.
	Metrics metrics.ControllerProvider
}

func (d *Descriptor) is(name string) bool { return d.Name == name || slices.Contains(d.Aliases, name) }

func (d *Descriptor) selected(selection []string) bool {
	all := false
	for _, entry := range selection {
		name, off := strings.CutPrefix(entry, "-")
		switch {
		case d.is(name):
			return !off
		case entry == "*":
			all = true
		}
	}
	return all && !d.Disabled
}

func validateControllers(all []Descriptor) (errs []error) {
	known := map[string]string{} // the controller by name or alias
	for n, d := range all {
		if d.Name == "" {
			errs = append(errs, fmt.Errorf("controller %d of %d has no name", n+1, len(all)))
			continue
		}
		if d.New == nil {
			errs = append(errs, fmt.Errorf("controller %s: New is nil", d.Name))
		}
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			switch {
			case !isName(name):
				errs = append(errs, fmt.Errorf("controller %s: invalid name %q; %s", d.Name, name, nameRule))
			case known[name] != "":
				errs = append(errs, fmt.Errorf("controller %s: the name %q is also that of controller %s", d.Name, name, known[name]))
			}
			known[name] = d.Name
		}
	}
	return errs
}

// validateSharded checks which controllers are Sharded.
func validateSharded(hasRing bool, all []Descriptor) (errs []error) {
	sharded := false
	for _, d := range all {
		sharded = sharded || d.Sharded
		switch {
		case d.Sharded && d.Always:
			errs = append(errs, fmt.Errorf("controller %s: it is Sharded and Always; choose one", d.Name))
		case d.Sharded && !hasRing:
			errs = append(errs, fmt.Errorf("controller %s: it is Sharded, and Options.Ring is nil; make a ring with package shard", d.Name))
		case hasRing && d.is(ringCheck):
			errs = append(errs, fmt.Errorf("controller %s: the manager has a check of the name %q; choose another one", d.Name, ringCheck))
		}
	}
	if hasRing && !sharded {
		errs = append(errs, errors.New("Options.Ring is set, and no controller is Sharded; leave the Ring out, or make a controller Sharded"))
	}
	return errs
}

const nameRule = "a name must not be empty or *, begin with -, or contain a slash, a blank or a comma"

func isName(name string) bool {
	return name != "" && name != "*" && !strings.HasPrefix(name, "-") && !strings.ContainsAny(name, "/ ,")
}

func validateSelection(selection []string, all []Descriptor) (errs []error) {
	for _, entry := range selection {
		name := strings.TrimPrefix(entry, "-")
		if entry != "*" && !slices.ContainsFunc(all, func(d Descriptor) bool { return d.is(name) }) {
			errs = append(errs, fmt.Errorf("no controller is called %q; there are %s", name, namesOf(all)))
		}
	}
	return errs
}

func namesOf(all []Descriptor) string {
	names := map[string]bool{}
	for _, d := range all {
		names[d.Name] = true
	}
	delete(names, "") // reported separately
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
