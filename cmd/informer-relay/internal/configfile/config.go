// SPDX-License-Identifier: Apache-2.0

// Package configfile reads the configuration file of informer-relay, strictly: unknown keys and
// values are errors, with their position in the file and the allowed values.
package configfile

import (
	"net"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config is a configuration file. [Parse] returns valid ones, with defaults filled in.
type Config struct {
	Listen    Listen     `yaml:"listen"`
	Access    Access     `yaml:"access"`
	Resources []Resource `yaml:"resources"`
	Limits    Limits     `yaml:"limits"`
	Shutdown  Shutdown   `yaml:"shutdown"`
	// StaleAfter is the silence of the upstream after which /readyz fails; 5 minutes by default.
	// Reads go on.
	StaleAfter time.Duration `yaml:"staleAfter"`
}

// Listen configures where the relay serves.
type Listen struct {
	// Address is HOST:PORT; :8443 by default.
	Address string `yaml:"address"`
	// CertFile and KeyFile are the server's certificate and key, in PEM. They are required unless
	// Address is a loopback address. ClientCAFile has the authorities that sign client
	// certificates. All three are read again when they change.
	CertFile     string `yaml:"certFile"`
	KeyFile      string `yaml:"keyFile"`
	ClientCAFile string `yaml:"clientCAFile"`
	// Probes is a second HOST:PORT for /healthz and /readyz only, in plain HTTP and outside of the
	// limits on connections. Address answers probes in any case.
	Probes string `yaml:"probes"`
}

// Loopback reports whether only this machine reaches the address.
func (l Listen) Loopback() bool {
	host, _, err := net.SplitHostPort(l.Address)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// Mode is a way to authenticate and authorize callers.
type Mode string

const (
	// TokenReview asks the upstream who a caller is, by a TokenReview of the caller's token, and
	// for its rights, by a SubjectAccessReview. With Listen.ClientCAFile, callers may have a client
	// certificate instead of a token.
	TokenReview Mode = "TokenReview"
	// SelfSubjectAccessReview asks the upstream with the caller's own token. The relay needs no
	// right for it.
	SelfSubjectAccessReview Mode = "SelfSubjectAccessReview"
	// Certificates takes client certificates with names listed in Access.Callers.
	Certificates Mode = "Certificates"
	// None answers everyone who reaches the address, which must be a loopback address.
	None Mode = "None"
)

// Access configures the callers' rights to read.
type Access struct {
	// Mode must be set.
	Mode Mode `yaml:"mode"`
	// Audiences are the audiences of callers' tokens, with TokenReview; a token needs one of them.
	// The default is the API server's.
	Audiences []string `yaml:"audiences"`
	// AllowedFor and DeniedFor are the lifetimes of the upstream's answers; 10 seconds and 2
	// seconds by default.
	AllowedFor time.Duration `yaml:"allowedFor"`
	DeniedFor  time.Duration `yaml:"deniedFor"`
	// ReviewWatchesEvery is the interval at which the right to an open watch is reviewed; 1 minute
	// by default. After five intervals without an answer, the watch ends.
	ReviewWatchesEvery time.Duration `yaml:"reviewWatchesEvery"`
	// Callers are the rights of names in client certificates, with Certificates.
	Callers []Caller `yaml:"callers"`
}

// Caller grants rights to some callers. All parts must agree with a request. If a name is in
// several entries, one that agrees is enough.
type Caller struct {
	// Names are common names and URIs of client certificates. At least one must be set.
	Names []string `yaml:"names"`
	// Resources are names of [Config.Resources], such as pods or deployments.apps, or "*" for all.
	Resources []string `yaml:"resources"`
	// Namespaces are the readable namespaces. By default all are, and cluster-scoped objects.
	Namespaces []string `yaml:"namespaces"`
	// ResourceNames are the names of readable objects; all by default. If set, a list or a watch
	// must name one of them with the field selector metadata.name.
	ResourceNames []string `yaml:"resourceNames"`
	// Verbs are get, list and watch; all of them by default.
	Verbs []string `yaml:"verbs"`
	// Metrics allows /metrics.
	Metrics bool `yaml:"metrics"`
}

// Resource configures a served resource.
type Resource struct {
	// Group is the API group; "" is the core group. Version and Resource must be set.
	Group    string `yaml:"group"`
	Version  string `yaml:"version"`
	Resource string `yaml:"resource"`
	// AllowSecrets must be true for the resource secrets, and for no other one.
	AllowSecrets bool `yaml:"allowSecrets"`

	// Namespaces are read and served with a watch for each; by default one watch reads all.
	Namespaces []string `yaml:"namespaces"`
	// LabelSelector and FieldSelector restrict the objects. For callers, no others exist.
	LabelSelector string `yaml:"labelSelector"`
	FieldSelector string `yaml:"fieldSelector"`
	// SelectableFields are fields for callers' field selectors, such as spec.nodeName, besides
	// metadata.name and metadata.namespace. Values may be strings, numbers and bools.
	SelectableFields []string `yaml:"selectableFields"`
	// Drop lists paths to cut out of objects before they are kept, such as .metadata.managedFields
	// or .metadata.annotations["example.com/note"]. Callers don't get them.
	Drop []string `yaml:"drop"`

	// Protobuf keeps and serves the objects of a built-in kind in protobuf. Clients that accept
	// only JSON are refused.
	Protobuf bool `yaml:"protobuf"`
	// PassWrites passes writes, and requests for subresources, on to the API server with the
	// caller's token. Strict also passes gets, and lists without a resourceVersion, so that their
	// answers are never older than the request. Both need callers with tokens, and Strict a
	// resource without LabelSelector, FieldSelector and Drop.
	PassWrites bool `yaml:"passWrites"`
	Strict     bool `yaml:"strict"`

	// History bounds the changes that are kept.
	History History `yaml:"history"`
}

// GVR returns the resource's name in the API.
func (r Resource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// History bounds the changes kept for watches that are behind. The oldest are dropped when either
// bound is passed.
type History struct {
	Age   time.Duration `yaml:"age"`   // 5 minutes by default
	Bytes Bytes         `yaml:"bytes"` // 64Mi by default
	// MergeSlow continues watches whose changes were dropped with one event for each changed
	// object. By default they end with 410.
	MergeSlow bool `yaml:"mergeSlow"`
}

// Bytes is an amount of memory, in a file such as 64Mi.
type Bytes int64

// Limits bound the clients served at a time. Beyond a limit, connections are closed, and requests
// answered with 429.
type Limits struct {
	// Connections bounds all connections, 20,000 by default, and ConnectionsPerAddress those from
	// one IP address; 0, its default, means no limit.
	Connections           int `yaml:"connections"`
	ConnectionsPerAddress int `yaml:"connectionsPerAddress"`
	// Watches bounds open watches; 50,000 by default. Joins bounds lists, and watches that begin
	// with the present objects, while these are sent; 1,000 by default.
	Watches int `yaml:"watches"`
	Joins   int `yaml:"joins"`
}

// Shutdown configures how the relay ends.
type Shutdown struct {
	// Delay is the time between the failure of /readyz and the end of the first watch, in which
	// load balancers take note; 5 seconds by default.
	Delay time.Duration `yaml:"delay"`
	// Period is the time over which watches then end, in random order; 20 seconds by default.
	Period time.Duration `yaml:"period"`
}

func defaults() *Config {
	return &Config{
		Listen:     Listen{Address: ":8443"},
		Access:     Access{AllowedFor: 10 * time.Second, DeniedFor: 2 * time.Second, ReviewWatchesEvery: time.Minute},
		Limits:     Limits{Connections: 20_000, Watches: 50_000, Joins: 1_000},
		Shutdown:   Shutdown{Delay: 5 * time.Second, Period: 20 * time.Second},
		StaleAfter: 5 * time.Minute,
	}
}

func defaultResource() Resource {
	return Resource{History: History{Age: 5 * time.Minute, Bytes: 64 << 20}}
}
