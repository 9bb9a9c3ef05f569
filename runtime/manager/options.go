// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
)

// Options are the settings of a [Manager]. Config and Factory must be set.
type Options struct {
	// Config is the configuration of the controllers' clients.
	Config *rest.Config
	// Factory has the informers. Run starts it after all controllers are built, and shuts it down
	// at its end. The metrics that it got by informer.WithMetrics are also those of the
	// controllers, of the election and of the ring, and answer /metrics.
	Factory factories.SharedInformerFactory
	// Controllers are the program's controllers.
	Controllers []Descriptor
	// Select names the controllers to run: "name" to run one, "-name" to leave one out, "*" for all
	// that are not disabled by default. The first entry that names a controller counts. Nil means
	// "*".
	Select []string
	// Election, unless nil, decides whether this process leads. Controllers that are not Always run
	// only while it does.
	Election Elector
	// Ring, unless nil, divides the objects of the Sharded controllers over several processes. Give
	// the same one to their informers (informer.WithRing) and to controller.Options.Ring. A manager
	// may have an Election for other controllers, too.
	Ring Ring
	// ShutdownTimeout limits the end of Run, including the time in which the ring hands over. 0
	// means 30 s.
	ShutdownTimeout time.Duration
	// Address is the host:port that serves [Manager.Handler] while the manager runs. "" means none.
	Address string
	// CertFile and KeyFile, unless empty, are PEM files of a certificate and its key: Address then
	// serves HTTPS, with HTTP/1.1. New contents are used within 10 s.
	CertFile, KeyFile string
	// Authorize returns nil if a request may see /configz, the paths below /debug, and the reasons
	// why a controller or a check is unhealthy. Nil means [inspect.FromThisMachine].
	Authorize func(*http.Request) error
	// MetricsHandler answers /metrics; promhttp.Handler() is an example. Nil means the Factory's
	// metrics, if they are an http.Handler, as those of package prometheus are. Otherwise there is
	// no /metrics.
	MetricsHandler http.Handler
	// AuthorizeMetrics returns nil if a request may get /metrics. Nil means everyone may. Package
	// access has a rule that asks the API server.
	AuthorizeMetrics func(*http.Request) error
	// HealthChecks and ReadyChecks, by their names, are further parts of /healthz and of /readyz. A
	// check returns nil if all is well. It should end with the request's context; one that doesn't
	// is unhealthy from then until it returns. A check that panics is unhealthy.
	HealthChecks, ReadyChecks map[string]func(*http.Request) error

	// set by AddFlags
	flags *pflag.FlagSet
	logs  *logFlags
}

// Elector decides which of several processes leads. Package election implements it. If it also has
// a method Holder() string, the page shows its result as the leader.
type Elector interface {
	// Run takes part in the election until ctx is done. When this process leads, Run calls lead,
	// whose context is done when ctx is or when the process stops leading. Run lets no other
	// process lead before lead has returned nil.
	Run(ctx context.Context, lead func(ctx context.Context) error) error
	// Fence returns a copy of config whose requests leave the process only while it leads.
	Fence(config *rest.Config) *rest.Config
	// Leading reports whether this process leads.
	Leading() bool
	// Name names the election in metrics: it is the Lease's.
	Name() string
}

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
	if isNilPointer(reflect.ValueOf(o.Ring)) {
		errs = append(errs, fmt.Errorf("the Ring is a nil %T; leave it out, or make one", o.Ring))
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		errs = append(errs, fmt.Errorf("CertFile is %q and KeyFile is %q; set both, or neither", o.CertFile, o.KeyFile))
	}
	if o.ShutdownTimeout < 0 {
		errs = append(errs, fmt.Errorf("negative ShutdownTimeout %v", o.ShutdownTimeout))
	}
	if err := o.logs.validate(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, validateControllers(o.Controllers)...)
	errs = append(errs, validateSharded(o.Ring != nil, o.Controllers)...)
	errs = append(errs, validateSelection(o.Select, o.Controllers)...)
	var ring []string
	if o.Ring != nil {
		ring = []string{ringCheck}
	}
	errs = append(errs, validateChecks("HealthChecks", o.HealthChecks, o.Controllers, ring...)...)
	return errors.Join(append(errs, validateChecks("ReadyChecks", o.ReadyChecks, o.Controllers, append(ring, informersCheck, controllersCheck)...)...)...)
}

func isNilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }
