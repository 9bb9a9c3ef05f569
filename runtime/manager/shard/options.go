// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// By is the property that decides the bucket of an object.
type By = partition.By

const (
	// ByNamespace puts all objects of a namespace into one bucket, with the Namespace itself.
	// Objects without a namespace go by their names.
	ByNamespace = partition.ByNamespace
	// ByKey goes by namespace and name of the root: the object itself, or its controlling owner if
	// that is of a kind in Options.Roots.
	ByKey = partition.ByKey
	// ByUID goes by the UID of the root, which API servers can select (KEP-5866).
	ByUID = partition.ByUID
)

// Root is a kind whose owned objects are in the bucket of their owner.
type Root = partition.Root

// Options are the settings of a [Ring]. Name is required. All members of a ring must have the same
// Buckets, By and Roots, and should have the same times.
type Options struct {
	// Namespace and Name name the ring's Leases: Name is the coordinator's, Name-table has the
	// table, and Name-m-… is one member's. An empty Namespace means kube-system.
	Namespace, Name string
	// Identity begins the name of this process among the members; a random part follows. "" means
	// the host name, which in a cluster is the Pod's name.
	Identity string
	// Buckets is the number of buckets, a power of two, at most 1,024. 0 means 64.
	Buckets int
	// By is the property that decides the bucket of an object. The zero value is ByNamespace.
	By By
	// Roots are the kinds whose owned objects are in the bucket of their owner, with ByKey and
	// ByUID. Owned objects refer to it as their controller, directly.
	Roots []Root
	// LeaseDuration is the time from the last renewal that the others have seen until a member
	// counts as dead: a whole number of seconds. 0 means 15 s.
	LeaseDuration time.Duration
	// Margin is the time between the cutting off of a member's requests and the end of its lease,
	// for requests on their way and for clocks of different speeds. 0 means a fifth of
	// LeaseDuration.
	Margin time.Duration
	// RetryPeriod is the interval of renewals. 0 means 2 s.
	RetryPeriod time.Duration
	// Grace is the time for which running reconciles of a bucket may go on after it was revoked.
	// Then their contexts end and their requests are refused. 0 means 5 s.
	Grace time.Duration
	// JoinDelay is the time for which a new member is granted nothing. In a rolling update, the
	// member that it replaces begins to leave meanwhile, so a bucket moves once. 0 means 5 s;
	// negative means none.
	JoinDelay time.Duration
	// Spares is the number of members, 0 or 1, that keep the objects of a bucket without working
	// on it. After a crash the spare goes on at once; memory doubles.
	Spares int
	// Weight is this member's share of the buckets, in proportion to the weights of all. 0 means 1.
	Weight int
}

// AddFlags adds flags for Namespace, Name, Buckets, the times, Spares and Weight. The current
// values become the defaults.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.setDefaults()
	flags.StringVar(&o.Namespace, "shard-namespace", o.Namespace, "namespace of the Leases by which replicas share the work")
	flags.StringVar(&o.Name, "shard-name", o.Name, "name of the Leases by which replicas share the work")
	flags.IntVar(&o.Buckets, "shard-buckets", o.Buckets, "number of parts of the work, a power of two; the same in all replicas")
	flags.DurationVar(&o.LeaseDuration, "shard-lease-duration", o.LeaseDuration, "how long after its last renewal a replica counts as dead; whole seconds")
	flags.DurationVar(&o.RetryPeriod, "shard-retry-period", o.RetryPeriod, "how often a replica renews its Lease")
	flags.DurationVar(&o.Grace, "shard-grace", o.Grace, "how long running reconciles may go on after their part was given to another replica")
	flags.DurationVar(&o.JoinDelay, "shard-join-delay", o.JoinDelay, "how long a new replica waits for its part of the work")
	flags.IntVar(&o.Spares, "shard-spares", o.Spares, "1 to keep each part of the objects in a second replica as well")
	flags.IntVar(&o.Weight, "shard-weight", o.Weight, "this replica's share, in proportion to those of the others")
}

func (o *Options) setDefaults() {
	if o.Namespace == "" {
		o.Namespace = "kube-system"
	}
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{{&o.LeaseDuration, 15 * time.Second}, {&o.RetryPeriod, 2 * time.Second}, {&o.Grace, 5 * time.Second}, {&o.JoinDelay, 5 * time.Second}} {
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	if o.Buckets == 0 {
		o.Buckets = 64
	}
	if o.Weight == 0 {
		o.Weight = 1
	}
}

const maxBuckets = 1024

// validate sets defaults and checks the rest.
func (o *Options) validate() error {
	o.setDefaults()
	if o.Margin == 0 {
		o.Margin = o.LeaseDuration / 5
	}
	if o.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("getting the host name for Identity: %w", err)
		}
		o.Identity = host
	}
	o.Roots = slices.Clone(o.Roots)
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(o.Name != "", "the Name of the Leases is empty")
	check(o.Buckets > 0 && o.Buckets <= maxBuckets && o.Buckets&(o.Buckets-1) == 0, "Buckets is %d; it must be a power of two, at most %d", o.Buckets, maxBuckets)
	check(o.By <= ByUID, "unknown By %d; it must be ByNamespace, ByKey or ByUID", o.By)
	check(o.By != ByNamespace || len(o.Roots) == 0, "Roots are set, and By is ByNamespace, which has none; leave them out, or use ByKey or ByUID")
	for n, root := range o.Roots {
		check(root.Kind != "", "root %d of %d has no Kind", n+1, len(o.Roots))
	}
	check(o.LeaseDuration >= time.Second && o.LeaseDuration%time.Second == 0, "LeaseDuration is %v; it must be a whole number of seconds, at least 1", o.LeaseDuration)
	check(o.RetryPeriod > 0, "negative RetryPeriod %v", o.RetryPeriod)
	check(o.Grace > 0, "negative Grace %v", o.Grace)
	check(o.Margin > 0 && o.Margin+3*o.RetryPeriod <= o.LeaseDuration, "the Margin is %v; together with three RetryPeriods of %v it must be at most LeaseDuration, which is %v", o.Margin, o.RetryPeriod, o.LeaseDuration)
	check(o.Spares == 0 || o.Spares == 1, "Spares is %d; it must be 0 or 1", o.Spares)
	check(o.Weight > 0, "negative Weight %d", o.Weight)
	return errors.Join(errs...)
}

func newIdentity(prefix string) string {
	return strings.ToLower(prefix + "-" + rand.Text()[:10])
}
