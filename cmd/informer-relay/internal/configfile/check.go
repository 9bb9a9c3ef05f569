// SPDX-License-Identifier: Apache-2.0

package configfile

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/server/upstream"
)

// bookmarkInterval is the longest silence of an API server's watch.
const bookmarkInterval = time.Minute

// check adds findings about values that could be read.
func (d *document) check(c *Config) {
	d.checkListen(c)
	d.checkAccess(c)
	if len(c.Resources) == 0 {
		d.report("resources", "at least one resource must be served", nil)
	}
	for i := range c.Resources {
		d.checkResource(c.Access.Mode, c.Resources[:i], c.Resources[i], index("resources", i))
	}
	requirePositive(d, "limits.connections", c.Limits.Connections)
	requirePositive(d, "limits.watches", c.Limits.Watches)
	requirePositive(d, "limits.joins", c.Limits.Joins)
	requireNotNegative(d, "limits.connectionsPerAddress", c.Limits.ConnectionsPerAddress)
	requireNotNegative(d, "shutdown.delay", c.Shutdown.Delay)
	requireNotNegative(d, "shutdown.period", c.Shutdown.Period)
	if c.StaleAfter <= bookmarkInterval {
		d.report("staleAfter", fmt.Sprintf("must be more than %v, the interval of the API server's bookmarks while nothing changes", bookmarkInterval), nil)
	}
}

func (d *document) checkListen(c *Config) {
	l := c.Listen
	if l.Probes != "" {
		d.checkAddress("listen.probes", l.Probes)
	}
	if l.Probes == l.Address {
		d.report("listen.probes", "must differ from listen.address", nil)
	}
	if !d.checkAddress("listen.address", l.Address) {
		return
	}
	tls := l.CertFile != "" || l.KeyFile != ""
	switch {
	case (l.CertFile == "") != (l.KeyFile == ""):
		d.report("listen", "certFile and keyFile must be set together", nil)
	case !tls && !l.Loopback():
		d.report("listen.address", l.Address+" is not a loopback address, so certFile and keyFile must be set", nil)
	case !tls && l.ClientCAFile != "":
		d.report("listen.clientCAFile", "there are no client certificates without TLS; set certFile and keyFile", nil)
	}
}

func (d *document) checkAddress(path, address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		d.report(path, fmt.Sprintf("%q is not HOST:PORT, such as :8443 or 127.0.0.1:8080", address), nil)
		return false
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		d.report(path, fmt.Sprintf("unknown port %q", port), nil)
	}
	return true
}

func (d *document) checkAccess(c *Config) {
	a := c.Access
	modes := []string{string(TokenReview), string(SelfSubjectAccessReview), string(Certificates), string(None)}
	switch {
	case a.Mode == "":
		d.report("access", "mode must be set", modes)
	case !slices.Contains(modes, string(a.Mode)):
		d.report("access.mode", fmt.Sprintf("there is no mode %q%s", a.Mode, diag.DidYouMean(string(a.Mode), modes)), modes)
	case a.Mode == None && !c.Listen.Loopback():
		d.report("access.mode", "None answers everyone, so listen.address must be a loopback address", nil)
	case a.Mode == Certificates && c.Listen.ClientCAFile == "":
		d.report("access.mode", "Certificates needs listen.clientCAFile", nil)
	case a.Mode == Certificates && len(a.Callers) == 0:
		d.report("access", "with Certificates, callers must have at least one entry", nil)
	case a.Mode != Certificates && a.Mode != TokenReview && c.Listen.ClientCAFile != "":
		d.report("listen.clientCAFile", fmt.Sprintf("the mode %s takes no client certificates; remove clientCAFile", a.Mode), nil)
	}
	if a.Mode != Certificates && len(a.Callers) > 0 {
		d.report("access.callers", "only the mode Certificates has callers", nil)
	}
	if a.Mode != TokenReview && len(a.Audiences) > 0 {
		d.report("access.audiences", "only the mode TokenReview has audiences", nil)
	}
	d.checkNotEmpty("access.audiences", a.Audiences)
	requireNotNegative(d, "access.allowedFor", a.AllowedFor)
	requireNotNegative(d, "access.deniedFor", a.DeniedFor)
	requirePositive(d, "access.reviewWatchesEvery", a.ReviewWatchesEvery)
	for i, caller := range a.Callers {
		d.checkCaller(c, caller, index("access.callers", i))
	}
}

func (d *document) checkCaller(c *Config, caller Caller, path string) {
	if len(caller.Names) == 0 {
		d.report(path, "names must have at least one common name or URI", nil)
	}
	d.checkNotEmpty(path+".names", caller.Names)
	d.checkNotEmpty(path+".resourceNames", caller.ResourceNames)
	if len(caller.Resources) == 0 && !caller.Metrics {
		d.report(path, "resources must have at least one element, or metrics must be true", nil)
	}
	known := []string{"*"}
	for _, r := range c.Resources {
		known = append(known, r.GVR().GroupResource().String())
	}
	for i, name := range caller.Resources {
		if !slices.Contains(known, name) {
			d.report(index(path+".resources", i), fmt.Sprintf("%q is not served%s", name, diag.DidYouMean(name, known)), known)
		}
	}
	for i, verb := range caller.Verbs {
		if verbs := []string{"get", "list", "watch"}; !slices.Contains(verbs, verb) {
			d.report(index(path+".verbs", i), fmt.Sprintf("there is no verb %q%s", verb, diag.DidYouMean(verb, verbs)), verbs)
		}
	}
	d.checkNamespaces(path+".namespaces", caller.Namespaces)
}

func (d *document) checkResource(mode Mode, previous []Resource, r Resource, path string) {
	name := r.GVR().GroupResource().String()
	if r.Version == "" {
		d.report(path, "version must be set, such as v1", nil)
	}
	switch {
	case r.Resource == "":
		d.report(path, "resource must be set, such as pods", nil)
	case strings.Contains(r.Resource, "/"):
		d.report(path+".resource", fmt.Sprintf("%q is a subresource, which has no lists and watches", r.Resource), nil)
	case len(validation.IsDNS1123Label(r.Resource)) > 0:
		d.report(path+".resource", fmt.Sprintf("%q is not the name of a resource; that is a plural in lower case, such as pods", r.Resource), nil)
	case name == "secrets" && !r.AllowSecrets:
		d.report(path+".resource", "secrets need allowSecrets: true; the relay then reads all of them and keeps them in memory", nil)
	case name != "secrets" && r.AllowSecrets:
		d.report(path+".allowSecrets", "allowSecrets is only for secrets; remove it from "+name, nil)
	}
	if r.Version != "" && len(validation.IsDNS1035Label(r.Version)) > 0 {
		d.report(path+".version", fmt.Sprintf("%q is not a version, such as v1", r.Version), nil)
	}
	if r.Group != "" && len(validation.IsDNS1123Subdomain(r.Group)) > 0 {
		d.report(path+".group", fmt.Sprintf("%q is not an API group, such as apps; the core group is left out", r.Group), nil)
	}
	if slices.ContainsFunc(previous, func(other Resource) bool { return other.GVR() == r.GVR() }) {
		d.report(path, fmt.Sprintf("%s %s is listed twice", name, r.Version), nil)
	}
	d.checkNamespaces(path+".namespaces", r.Namespaces)
	if _, err := labels.Parse(r.LabelSelector); err != nil {
		d.report(path+".labelSelector", err.Error(), nil)
	}
	if _, err := fields.ParseSelector(r.FieldSelector); err != nil {
		d.report(path+".fieldSelector", err.Error(), nil)
	}
	for i, field := range r.SelectableFields {
		if !isField(field) {
			d.report(index(path+".selectableFields", i), fmt.Sprintf("%q is not the path of a field, such as spec.nodeName", field), nil)
		}
	}
	for key, passes := range map[string]bool{"passWrites": r.PassWrites, "strict": r.Strict} {
		if passes && mode != TokenReview && mode != SelfSubjectAccessReview {
			d.report(path+"."+key, fmt.Sprintf("needs the mode %s or %s, in which callers have a token to pass on", TokenReview, SelfSubjectAccessReview), nil)
		}
	}
	if r.Strict && r.LabelSelector+r.FieldSelector+strings.Join(r.Drop, "") != "" {
		d.report(path+".strict", "the API server answers such requests and leaves nothing out; remove labelSelector, fieldSelector and drop", nil)
	}
	for i, dropped := range r.Drop {
		if err := upstream.CheckDrop(dropped); err != nil {
			d.report(index(path+".drop", i), err.Error(), nil)
		}
	}
	requirePositive(d, path+".history.age", r.History.Age)
	requirePositive(d, path+".history.bytes", r.History.Bytes)
}

func (d *document) checkNamespaces(path string, namespaces []string) {
	for i, ns := range namespaces {
		switch {
		case len(validation.IsDNS1123Label(ns)) > 0:
			d.report(index(path, i), fmt.Sprintf("%q is not the name of a namespace", ns), nil)
		case slices.Contains(namespaces[:i], ns):
			d.report(index(path, i), fmt.Sprintf("%q is listed twice", ns), nil)
		}
	}
}

func (d *document) checkNotEmpty(path string, texts []string) {
	for i, text := range texts {
		if text == "" {
			d.report(index(path, i), "must not be empty", nil)
		}
	}
}

func isField(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || strings.ContainsAny(part, " =!,[]*'\"") {
			return false
		}
	}
	return text != "metadata.name" && text != "metadata.namespace"
}

func requirePositive[T time.Duration | int | Bytes](d *document, path string, value T) {
	if value <= 0 {
		d.report(path, "must be more than 0", nil)
	}
}

func requireNotNegative[T time.Duration | int](d *document, path string, value T) {
	if value < 0 {
		d.report(path, "must not be negative", nil)
	}
}
