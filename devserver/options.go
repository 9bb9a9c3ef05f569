// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Options configure a [Server]. The zero value suits most tests: a free port of 127.0.0.1, a
// temporary folder, no CRDs, a watch cache, no log output.
type Options struct {
	// Addr is the TCP address, host:port, to serve plain HTTP on. Empty means 127.0.0.1:0, a free
	// port of the loopback interface. There is no TLS: every client that reaches the address can be
	// an administrator.
	Addr string

	// Dir is the folder of the server's data. Empty means a temporary folder, removed when the
	// server stops. A given folder is created if missing, is never removed, and belongs to one
	// server at a time. A later server with the same Dir has the same objects at the same
	// resourceVersions; with the same Addr too, clients carry on where they were, watches included.
	Dir string

	// CRDs are installed before Start returns, as by InstallCRDs.
	CRDs []*apiextensionsv1.CustomResourceDefinition

	// BuiltInKinds serves built-in kinds of Kubernetes beside those of the CRDs: namespaces, pods,
	// services, endpoints, nodes, configmaps, secrets, serviceaccounts, persistentvolumes,
	// persistentvolumeclaims, storageclasses, events, resourcequotas, limitranges, priorityclasses,
	// deployments, replicasets, statefulsets, daemonsets, jobs, cronjobs, poddisruptionbudgets,
	// horizontalpodautoscalers, ingresses, ingressclasses, networkpolicies, leases, endpointslices,
	// roles, rolebindings, clusterroles, clusterrolebindings, certificatesigningrequests, and
	// configurations of admission webhooks, which are then called; and the reviews of
	// authorization.k8s.io and authentication.k8s.io. Objects can only be created in existing
	// namespaces; default, kube-system, kube-public and kube-node-lease exist from the start.
	BuiltInKinds bool

	// RBAC authorizes requests by Roles, ClusterRoles and their bindings, as a cluster does;
	// without it everything is allowed. It needs BuiltInKinds. A client without a token is an
	// administrator. Tests act as others by rest.Config.Impersonate, or by a service account's
	// token.
	RBAC bool

	// CollectGarbage deletes objects whose owners, by their metadata.ownerReferences, are all gone,
	// and finishes foreground and orphaning deletions, as kube-controller-manager does. Without it,
	// as with envtest, owner references have no effect. A Job orphans its Pods unless its deletion
	// names another policy. devservertest.New sets CollectGarbage.
	CollectGarbage bool

	// DisableCRDControllers leaves CRDs to controllers of the program: they accept names, establish
	// CRDs, and remove the objects of deleted ones. Custom resources are served once their CRD has
	// the condition Established. CRDs must be empty.
	DisableCRDControllers bool

	// DisableWatchCache makes the server answer each list and watch from etcd. It is slower, but
	// after a Compact all requests for older history get 410 at once.
	DisableWatchCache bool

	// MinRequestTimeout sets when the server ends watches without timeoutSeconds: at a random time
	// in [MinRequestTimeout, 2*MinRequestTimeout). Fractions of a second are rounded up. 0 means
	// half an hour.
	MinRequestTimeout time.Duration

	// WrapHandler, if not nil, is called once, in Start, with the handler of all requests over
	// Addr, and returns the handler to serve instead. The server's requests to itself, and those of
	// Options.CRDs, don't pass through it. When the server stops, the context of each request is
	// cancelled; a handler that doesn't return within five seconds is left behind.
	WrapHandler func(http.Handler) http.Handler

	// LogOutput, if not nil, gets the log lines of the API server and of etcd while the server
	// runs; writes are serialised. API servers of one process share a logger, so each LogOutput
	// gets the API server's lines of all of them. If it is nil the lines are dropped.
	LogOutput io.Writer
}

const (
	defaultAddr = "127.0.0.1:0"

	// stopGrace bounds Stop's wait for requests other than watches. Then it cuts their connections.
	stopGrace = 5 * time.Second
)

func (o *Options) validate() error {
	var errs []error
	if o.Addr != "" {
		if _, port, err := net.SplitHostPort(o.Addr); err != nil {
			errs = append(errs, fmt.Errorf("Addr %q is not host:port: %w", o.Addr, err))
		} else if port == "" {
			errs = append(errs, fmt.Errorf("Addr %q has no port; use 0 for a free one", o.Addr))
		}
	}
	if o.Dir != "" {
		if info, err := os.Stat(o.Dir); err == nil && !info.IsDir() {
			errs = append(errs, fmt.Errorf("Dir %q is not a folder", o.Dir))
		}
	}
	if o.MinRequestTimeout < 0 {
		errs = append(errs, fmt.Errorf("MinRequestTimeout %v is negative", o.MinRequestTimeout))
	}
	if o.MinRequestTimeout > math.MaxInt32*time.Second {
		errs = append(errs, fmt.Errorf("MinRequestTimeout %v is longer than the API server can count", o.MinRequestTimeout))
	}
	if o.RBAC && !o.BuiltInKinds {
		errs = append(errs, errors.New("RBAC is given without BuiltInKinds: there would be no roles"))
	}
	if o.DisableCRDControllers && len(o.CRDs) > 0 {
		errs = append(errs, errors.New("CRDs are given together with DisableCRDControllers: Start would wait for what establishes them"))
	}
	errs = append(errs, checkCRDs(o.CRDs)...)
	if len(errs) > 0 {
		return fmt.Errorf("devserver: wrong options: %w", errors.Join(errs...))
	}
	return nil
}

func (o *Options) minRequestSeconds() int {
	if o.MinRequestTimeout == 0 {
		return 1800
	}
	return int((o.MinRequestTimeout + time.Second - 1) / time.Second)
}
