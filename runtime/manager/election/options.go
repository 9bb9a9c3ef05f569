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

// Options are the settings of an [Election]. Name is required. All processes of an election should
// have the same times.
type Options struct {
	// Namespace and Name identify the Lease. An empty Namespace means kube-system.
	Namespace, Name string
	// Identity names this process in the Lease, and must be unique. "" means the host name and a
	// random part.
	Identity string
	// LeaseDuration is the time from the last renewal the others have seen until they take the
	// lease. The Lease stores whole seconds, so it must be a whole number of them. 0 means 15 s.
	LeaseDuration time.Duration
	// RenewDeadline limits the attempts to renew before the process gives up. 0 means 10 s.
	RenewDeadline time.Duration
	// RetryPeriod is the leader's renewal interval. The others look every 1 to 2.2 RetryPeriods.
	// They see times in whole seconds, so a period under a second takes up to a second off the
	// Margin. 0 means 2 s.
	RetryPeriod time.Duration
	// Margin is the time between the cutting off of requests and the end of the lease, for requests
	// on their way and for clocks of different speeds. 0 means LeaseDuration less RenewDeadline and
	// RetryPeriod, so requests are cut off when a failing renewal is given up: 3 s by default.
	Margin time.Duration
}

// AddFlags adds the flags of kube-controller-manager's election except --leader-elect. The current
// values become the defaults.
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

// validate sets defaults and checks the rest.
func (o *Options) validate() error {
	o.setDefaults()
	if o.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("getting the host name for Identity: %w", err)
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
		return fmt.Errorf("LeaseDuration is %v; it must be a whole number of seconds, at least 1", o.LeaseDuration)
	case o.RetryPeriod < 0:
		return fmt.Errorf("negative RetryPeriod %v", o.RetryPeriod)
	case o.RenewDeadline <= time.Duration(leaderelection.JitterFactor*float64(o.RetryPeriod)):
		return fmt.Errorf("RenewDeadline is %v; it must be more than %v times RetryPeriod, which is %v", o.RenewDeadline, leaderelection.JitterFactor, o.RetryPeriod)
	case o.Margin <= 0:
		return fmt.Errorf("the Margin is %v; set it, or a LeaseDuration of more than RenewDeadline and RetryPeriod together", o.Margin)
	case o.Margin > o.LeaseDuration-o.RenewDeadline:
		return fmt.Errorf("the Margin is %v; it must be at most %v, LeaseDuration less RenewDeadline, or requests are cut off while the lease may still be renewed", o.Margin, o.LeaseDuration-o.RenewDeadline)
	}
	return nil
}
