// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Runnable is what a manager runs. A *controller.Controller is one. If it is an inspect.Controller,
// as that is, health and the page say what it is doing; if it is an http.Handler, it answers
// /debug/controllers/NAME.
type Runnable interface {
	// Run runs until ctx is done, and returns after all that it has started has ended. It is called
	// again after [Manager.Stop] and Start. If it returns an error before ctx is done, it has
	// failed; if it returns nil, it is done.
	Run(ctx context.Context) error
}

// RunnableFunc is a function as a [Runnable].
type RunnableFunc func(ctx context.Context) error

// Run calls f.
func (f RunnableFunc) Run(ctx context.Context) error { return f(ctx) }

// Descriptor is a controller that a manager can run: its names, how it is made, and when it runs.
// Name and New must be set.
type Descriptor struct {
	// Name is the name of the controller. Aliases are other ones, such as those that it had
	// earlier.
	Name    string
	Aliases []string
	// New makes the controller. It must not wait for informers, which run only after all
	// controllers are made; the controller's Run may. ctx is done when the manager's run ends. Nil
	// without an error means that there is nothing to run here.
	New func(ctx context.Context, c *Context) (Runnable, error)
	// Flags, unless nil, adds the controller's flags; see [Options.AddFlags].
	Flags func(flags *pflag.FlagSet)
	// Disabled means that "*" does not select the controller; its name does.
	Disabled bool
	// Always runs the controller also while the process does not lead. Its requests are not fenced.
	Always bool
	// KeyLimit is how long one key may be worked on until /healthz is red. 0 stands for 10 minutes,
	// a negative time for no limit.
	KeyLimit time.Duration
	// IdleLimit is how long no reconcile may end, with keys ready, until /healthz is red. 0 stands
	// for 10 minutes, a negative time for no limit.
	IdleLimit time.Duration
}

// Context is what New needs to make a controller. Each controller has one of its own.
type Context struct {
	// Name is the name of the controller.
	Name string
	// Config is for clients: that of the manager with the controller's name in the user agent, and,
	// unless the controller is Always, behind the fence of the election: then its requests are
	// refused while the process does not lead, also in New. Client is made of it.
	Config *rest.Config
	Client *source.Client
	// Factory is that of the manager.
	Factory factories.SharedInformerFactory
	// InformersStarted is closed when the informers have been started, after all controllers are
	// made.
	InformersStarted <-chan struct{}
	// Leading reports whether the process leads. Without an election it does.
	Leading func() bool
	// Metrics is that of the manager.
	Metrics metrics.ControllerProvider
}

// is reports whether the controller has this name.
func (d *Descriptor) is(name string) bool { return d.Name == name || slices.Contains(d.Aliases, name) }

// selected reports whether a selection has the controller.
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
	known := map[string]string{} // by name or alias, the controller
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
			case name == "" || name == "*" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/ ,"):
				errs = append(errs, fmt.Errorf("controller %s: %q is no name; it must not be empty or *, begin with -, or contain a slash, a blank or a comma", d.Name, name))
			case known[name] != "":
				errs = append(errs, fmt.Errorf("controller %s: %s is called %q, too", d.Name, known[name], name))
			}
			known[name] = d.Name
		}
	}
	return errs
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

// namesOf returns the names of controllers, sorted, for people.
func namesOf(all []Descriptor) string {
	names := map[string]bool{}
	for _, d := range all {
		names[d.Name] = true
	}
	delete(names, "") // an error of its own
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
