// SPDX-License-Identifier: Apache-2.0

package election

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/leaderelection"
)

// Options are the settings of an [Election]. Name must be set. All processes of an election should
// have the same times.
type Options struct {
	// Namespace and Name are those of the Lease. An empty Namespace stands for kube-system.
	Namespace, Name string
	// Identity names this process in the Lease. It must differ from those of all others. "" stands
	// for the name of the host and a random part.
	Identity string
	// LeaseDuration is how long the others wait, after the last renewal that they have seen, until
	// they take the lease. It is a whole number of seconds, since the Lease has it so. 0 stands for
	// 15 s.
	LeaseDuration time.Duration
	// RenewDeadline is how long a renewal is tried until the process gives up. 0 stands for 10 s.
	RenewDeadline time.Duration
	// RetryPeriod is how often the leader renews the lease. The others look at it each 1 to 2.2
	// times as long. They see its times in whole seconds, so a period of less than a second takes
	// up to a second off the Margin. 0 stands for 2 s.
	RetryPeriod time.Duration
	// Margin is how long before the end of the lease requests are cut off, for a request that is on
	// its way, and for clocks that don't run equally fast. 0 stands for what is left of
	// LeaseDuration after RenewDeadline and RetryPeriod, which is when a renewal that fails for the
	// whole time is given up: 3 s, if all have their defaults.
	Margin time.Duration
}

// AddFlags adds the flags of kube-controller-manager's election but --leader-elect. Their defaults
// are the present values.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.setDefaults()
	flags.StringVar(&o.Namespace, "leader-elect-resource-namespace", o.Namespace, "namespace of the Lease by which the leader is elected")
	flags.StringVar(&o.Name, "leader-elect-resource-name", o.Name, "name of the Lease by which the leader is elected")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration, "how long the other processes wait after the leader's last renewal; whole seconds")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline, "how long the leader tries to renew before it gives up")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "how often the leader renews")
}

func (o *Options) setDefaults() {
	if o.Namespace == "" {
		o.Namespace = "kube-system"
	}
	if o.LeaseDuration == 0 {
		o.LeaseDuration = 15 * time.Second
	}
	if o.RenewDeadline == 0 {
		o.RenewDeadline = 10 * time.Second
	}
	if o.RetryPeriod == 0 {
		o.RetryPeriod = 2 * time.Second
	}
}

// validate fills in the defaults and checks the rest.
func (o *Options) validate() error {
	o.setDefaults()
	if o.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("find the host's name for Identity: %w", err)
		}
		o.Identity = host + "_" + rand.Text()
	}
	if o.Margin == 0 {
		o.Margin = o.LeaseDuration - o.RenewDeadline - o.RetryPeriod
	}
	switch {
	case o.Name == "":
		return errors.New("the Name of the Lease is empty")
	case o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0:
		return fmt.Errorf("a LeaseDuration of %v; want a whole number of seconds, 1 or more", o.LeaseDuration)
	case o.RetryPeriod < 0:
		return fmt.Errorf("negative RetryPeriod %v", o.RetryPeriod)
	case o.RenewDeadline <= time.Duration(leaderelection.JitterFactor*float64(o.RetryPeriod)):
		return fmt.Errorf("a RenewDeadline of %v; want more than %v times the RetryPeriod of %v", o.RenewDeadline, leaderelection.JitterFactor, o.RetryPeriod)
	case o.Margin <= 0:
		return fmt.Errorf("a Margin of %v; want a LeaseDuration of more than RenewDeadline and RetryPeriod together, or a positive Margin", o.Margin)
	case o.Margin > o.LeaseDuration-o.RenewDeadline:
		return fmt.Errorf("a Margin of %v; want at most %v, LeaseDuration without RenewDeadline, or requests are cut off while the lease may still be renewed", o.Margin, o.LeaseDuration-o.RenewDeadline)
	}
	return nil
}
