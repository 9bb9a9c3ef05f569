// SPDX-License-Identifier: Apache-2.0

// Package configfile reads the configuration file of informer-relay, strictly: what it does not
// know is an error, with its place in the file and what is allowed there.
package configfile

import (
	"net"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config is a configuration file. [Parse] returns one that is valid, with its defaults filled in.
type Config struct {
	Listen    Listen     `yaml:"listen"`
	Access    Access     `yaml:"access"`
	Resources []Resource `yaml:"resources"`
	Limits    Limits     `yaml:"limits"`
	Shutdown  Shutdown   `yaml:"shutdown"`
	// StaleAfter is how long the upstream may be silent until /readyz fails; 5 minutes by default.
	// Reads go on.
	StaleAfter time.Duration `yaml:"staleAfter"`
}

// Listen is where the relay serves.
type Listen struct {
	// Address is HOST:PORT; :8443 by default.
	Address string `yaml:"address"`
	// CertFile and KeyFile are the server's certificate and its key, in PEM. They may be left out
	// only if Address is of the loopback. ClientCAFile has the authorities whose client
	// certificates are taken. All three are read again when they change.
	CertFile     string `yaml:"certFile"`
	KeyFile      string `yaml:"keyFile"`
	ClientCAFile string `yaml:"clientCAFile"`
	// Probes is HOST:PORT where /healthz and /readyz are answered, and nothing else, in plain HTTP
	// and beside the limits of connections. They are answered at Address in any case.
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

// Mode is how callers are authenticated and authorized.
type Mode string

// The modes.
const (
	// TokenReview asks the upstream who a caller is, by a TokenReview of the caller's token, and
	// what the caller may read, by a SubjectAccessReview. With Listen.ClientCAFile, callers may
	// have a client certificate in place of a token.
	TokenReview Mode = "TokenReview"
	// SelfSubjectAccessReview asks the upstream with the caller's own token. The relay needs no
	// right for that.
	SelfSubjectAccessReview Mode = "SelfSubjectAccessReview"
	// Certificates takes client certificates, whose names Access.Callers has.
	Certificates Mode = "Certificates"
	// None answers everyone who reaches the address, which must be of the loopback.
	None Mode = "None"
)

// Access is who may read what.
type Access struct {
	// Mode must be set.
	Mode Mode `yaml:"mode"`
	// Audiences are those that the tokens of callers must have one of, with TokenReview; those of
	// the API server by default.
	Audiences []string `yaml:"audiences"`
	// AllowedFor and DeniedFor are how long an answer of the upstream is kept; 10 seconds and 2
	// seconds by default.
	AllowedFor time.Duration `yaml:"allowedFor"`
	DeniedFor  time.Duration `yaml:"deniedFor"`
	// ReviewWatchesEvery is how often the right to an open watch is reviewed; 1 minute by default.
	// Without an answer for five times that long, the watch ends.
	ReviewWatchesEvery time.Duration `yaml:"reviewWatchesEvery"`
	// Callers are what the names in client certificates may read, with Certificates.
	Callers []Caller `yaml:"callers"`
}

// Caller is what some callers may read. All parts must agree with a request; of several entries
// with a name, one is enough.
type Caller struct {
	// Names are common names and URIs of client certificates. At least one must be set.
	Names []string `yaml:"names"`
	// Resources are names of [Config.Resources], such as pods or deployments.apps, or "*" for all.
	Resources []string `yaml:"resources"`
	// Namespaces are those that may be read; all, and cluster-scoped objects, by default.
	Namespaces []string `yaml:"namespaces"`
	// ResourceNames are the names of the objects that may be read; all by default. A list or a
	// watch must name one of them then, by the field selector metadata.name.
	ResourceNames []string `yaml:"resourceNames"`
	// Verbs are get, list and watch; all of them by default.
	Verbs []string `yaml:"verbs"`
	// Metrics allows /metrics.
	Metrics bool `yaml:"metrics"`
}

// Resource is a resource that is served.
type Resource struct {
	// Group is the API group; "" is the core group. Version and Resource must be set.
	Group    string `yaml:"group"`
	Version  string `yaml:"version"`
	Resource string `yaml:"resource"`
	// AllowSecrets must be true for the resource secrets, and for no other one.
	AllowSecrets bool `yaml:"allowSecrets"`

	// Namespaces are those that are read and served, each by a watch of its own; by default one
	// watch reads all.
	Namespaces []string `yaml:"namespaces"`
	// LabelSelector and FieldSelector restrict what is read. For callers, nothing else exists.
	LabelSelector string `yaml:"labelSelector"`
	FieldSelector string `yaml:"fieldSelector"`
	// SelectableFields are the fields by which callers may select, such as spec.nodeName, besides
	// metadata.name and metadata.namespace. Values may be strings, numbers and bools.
	SelectableFields []string `yaml:"selectableFields"`
	// Drop are paths to what is cut out of the objects before they are kept, such as
	// .metadata.managedFields or .metadata.annotations["example.com/note"]. Callers don't get it.
	Drop []string `yaml:"drop"`

	// Protobuf keeps the objects of a built-in kind in protobuf, and serves them so. Clients must
	// take that, as client-go's typed clients do; those that take only JSON are refused.
	Protobuf bool `yaml:"protobuf"`
	// PassWrites passes requests that write, and those for subresources, on to the API server, with
	// the caller's token. Strict does so too, and also with gets, and with lists without a
	// resourceVersion, so that their answers are never older than the request. Both need callers
	// with tokens, and Strict a resource of which nothing is left out.
	PassWrites bool `yaml:"passWrites"`
	Strict     bool `yaml:"strict"`

	// History is how many changes are kept.
	History History `yaml:"history"`
}

// GVR returns what the API server calls the resource.
func (r Resource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// History bounds the changes that are kept for watches that are behind. The oldest are dropped when
// either bound is passed.
type History struct {
	Age   time.Duration `yaml:"age"`   // 5 minutes by default
	Bytes Bytes         `yaml:"bytes"` // 64Mi by default
	// MergeSlow keeps watches for which changes were dropped: they get one event for each object
	// that has changed. By default they end with 410, as at an API server, and clients list.
	MergeSlow bool `yaml:"mergeSlow"`
}

// Bytes is an amount of memory, in a file such as 64Mi.
type Bytes int64

// Limits are how many clients are served at a time. What is above a limit is refused: connections
// by closing them, requests with 429.
type Limits struct {
	// Connections is how many there may be, 20,000 by default, and ConnectionsPerAddress how many
	// from one IP address; 0, the default, is any number.
	Connections           int `yaml:"connections"`
	ConnectionsPerAddress int `yaml:"connectionsPerAddress"`
	// Watches is how many may be open; 50,000 by default. Joins is how many lists, and watches that
	// begin with the present objects, may be sent these at a time; 1,000 by default.
	Watches int `yaml:"watches"`
	Joins   int `yaml:"joins"`
}

// Shutdown is how the relay ends.
type Shutdown struct {
	// Delay is how long the relay goes on as before while /readyz fails, so that no new clients
	// come; 5 seconds by default.
	Delay time.Duration `yaml:"delay"`
	// Period is how long it then takes to end the watches, in random order; 20 seconds by default.
	Period time.Duration `yaml:"period"`
}

// defaults returns the values of what a file leaves out.
func defaults() *Config {
	return &Config{
		Listen:     Listen{Address: ":8443"},
		Access:     Access{AllowedFor: 10 * time.Second, DeniedFor: 2 * time.Second, ReviewWatchesEvery: time.Minute},
		Limits:     Limits{Connections: 20_000, Watches: 50_000, Joins: 1_000},
		Shutdown:   Shutdown{Delay: 5 * time.Second, Period: 20 * time.Second},
		StaleAfter: 5 * time.Minute,
	}
}

// defaultResource returns the values of what an element of resources leaves out.
func defaultResource() Resource {
	return Resource{History: History{Age: 5 * time.Minute, Bytes: 64 << 20}}
}
