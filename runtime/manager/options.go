// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Options are the settings of a [Manager]. Config and Factory must be set.
type Options struct {
	// Config is what the clients of the controllers are made of.
	Config *rest.Config
	// Factory has the informers. Run starts them after all controllers are built, and shuts the
	// factory down at its end.
	Factory factories.SharedInformerFactory
	// Controllers are the controllers that the program has.
	Controllers []Descriptor
	// Select names the controllers that run: "name" for one that does, "-name" for one that
	// doesn't, "*" for all that are not disabled by default. The first entry that names a
	// controller counts. Nil stands for "*".
	Select []string
	// Election, unless nil, decides whether this process leads. Controllers that are not Always run
	// while it does; the informers, and the others, run from the start.
	Election Elector
	// ShutdownTimeout is how long the end may take. 0 stands for 30 s.
	ShutdownTimeout time.Duration
	// Address is where [Manager.Handler] is served while the manager runs, as host:port. "" means
	// nowhere.
	Address string
	// Authorize returns nil for each request that may see /configz, what is below /debug, and why
	// a controller is unhealthy. Nil stands for [inspect.FromThisMachine].
	Authorize func(*http.Request) error
	// MetricsHandler answers /metrics, for example promhttp.Handler(). Nil means that there are
	// none.
	MetricsHandler http.Handler
	// Metrics is for the controllers: Context has it.
	Metrics metrics.ControllerProvider

	sections []section // of AddFlags
}

// Elector decides which of several processes leads. *election.Election, of the package below this
// one, is one.
type Elector interface {
	// Run takes part in the election until ctx is done. When this process leads, Run calls lead,
	// whose context is done when ctx is or when the process does not lead any more, and lets no
	// other process lead before lead has returned nil.
	Run(ctx context.Context, lead func(ctx context.Context) error) error
	// Fence returns a copy of config whose requests leave the process only while it leads.
	Fence(config *rest.Config) *rest.Config
	// Leading reports whether this process leads.
	Leading() bool
}

// setDefaults fills in the defaults.
func (o *Options) setDefaults() {
	if o.Select == nil {
		o.Select = []string{"*"}
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = 30 * time.Second
	}
	if o.Authorize == nil {
		o.Authorize = inspect.FromThisMachine
	}
}

// validate returns all that is wrong.
func (o *Options) validate() error {
	var errs []error
	if o.Config == nil {
		errs = append(errs, errors.New("the Config is nil; get one from clientcmd or rest.InClusterConfig"))
	}
	if o.Factory == nil || isNilPointer(reflect.ValueOf(o.Factory)) {
		errs = append(errs, errors.New("the Factory is nil"))
	}
	if isNilPointer(reflect.ValueOf(o.Election)) {
		errs = append(errs, fmt.Errorf("the Election is a nil %T; leave it out, so that the process leads, or make one", o.Election))
	}
	if o.ShutdownTimeout < 0 {
		errs = append(errs, fmt.Errorf("negative ShutdownTimeout %v", o.ShutdownTimeout))
	}
	errs = append(errs, validateControllers(o.Controllers)...)
	return errors.Join(append(errs, validateSelection(o.Select, o.Controllers)...)...)
}

func isNilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }
