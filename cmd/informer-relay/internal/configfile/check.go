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
		d.wrong("resources", "at least one resource must be served", nil)
	}
	for i := range c.Resources {
		d.checkResource(c.Access.Mode, c.Resources[:i], c.Resources[i], index("resources", i))
	}
	positive(d, "limits.connections", c.Limits.Connections)
	positive(d, "limits.watches", c.Limits.Watches)
	positive(d, "limits.joins", c.Limits.Joins)
	notNegative(d, "limits.connectionsPerAddress", c.Limits.ConnectionsPerAddress)
	notNegative(d, "shutdown.delay", c.Shutdown.Delay)
	notNegative(d, "shutdown.period", c.Shutdown.Period)
	if c.StaleAfter <= bookmarkInterval {
		d.wrong("staleAfter", fmt.Sprintf("must be more than %v, after which the API server sends a bookmark if nothing changes", bookmarkInterval), nil)
	}
}

func (d *document) checkListen(c *Config) {
	l := c.Listen
	if l.Probes != "" {
		d.checkAddress("listen.probes", l.Probes)
	}
	if l.Probes == l.Address {
		d.wrong("listen.probes", "must not be that of listen.address", nil)
	}
	if !d.checkAddress("listen.address", l.Address) {
		return
	}
	tls := l.CertFile != "" || l.KeyFile != ""
	switch {
	case (l.CertFile == "") != (l.KeyFile == ""):
		d.wrong("listen", "certFile and keyFile must be set together", nil)
	case !tls && !l.Loopback():
		d.wrong("listen.address", l.Address+" is not of the loopback, so certFile and keyFile must be set", nil)
	case !tls && l.ClientCAFile != "":
		d.wrong("listen.clientCAFile", "there are no client certificates without TLS; set certFile and keyFile", nil)
	}
}

func (d *document) checkAddress(path, address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		d.wrong(path, fmt.Sprintf("%q is not HOST:PORT, such as :8443 or 127.0.0.1:8080", address), nil)
		return false
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		d.wrong(path, fmt.Sprintf("there is no port %q", port), nil)
	}
	return true
}

func (d *document) checkAccess(c *Config) {
	a := c.Access
	modes := []string{string(TokenReview), string(SelfSubjectAccessReview), string(Certificates), string(None)}
	switch {
	case a.Mode == "":
		d.wrong("access", "mode must be set", modes)
	case !slices.Contains(modes, string(a.Mode)):
		d.wrong("access.mode", fmt.Sprintf("there is no mode %q%s", a.Mode, diag.DidYouMean(string(a.Mode), modes)), modes)
	case a.Mode == None && !c.Listen.Loopback():
		d.wrong("access.mode", "None answers everyone, so listen.address must be of the loopback", nil)
	case a.Mode == Certificates && c.Listen.ClientCAFile == "":
		d.wrong("access.mode", "Certificates needs listen.clientCAFile", nil)
	case a.Mode == Certificates && len(a.Callers) == 0:
		d.wrong("access", "with Certificates, callers must have at least one entry", nil)
	case a.Mode != Certificates && a.Mode != TokenReview && c.Listen.ClientCAFile != "":
		d.wrong("listen.clientCAFile", fmt.Sprintf("client certificates have no use with the mode %s", a.Mode), nil)
	}
	if a.Mode != Certificates && len(a.Callers) > 0 {
		d.wrong("access.callers", "only the mode Certificates has callers", nil)
	}
	if a.Mode != TokenReview && len(a.Audiences) > 0 {
		d.wrong("access.audiences", "only the mode TokenReview has audiences", nil)
	}
	d.checkTexts("access.audiences", a.Audiences)
	notNegative(d, "access.allowedFor", a.AllowedFor)
	notNegative(d, "access.deniedFor", a.DeniedFor)
	positive(d, "access.reviewWatchesEvery", a.ReviewWatchesEvery)
	for i, caller := range a.Callers {
		d.checkCaller(c, caller, index("access.callers", i))
	}
}

func (d *document) checkCaller(c *Config, caller Caller, path string) {
	if len(caller.Names) == 0 {
		d.wrong(path, "names must have at least one common name or URI", nil)
	}
	d.checkTexts(path+".names", caller.Names)
	d.checkTexts(path+".resourceNames", caller.ResourceNames)
	if len(caller.Resources) == 0 && !caller.Metrics {
		d.wrong(path, "resources must have at least one, or metrics must be true", nil)
	}
	known := []string{"*"}
	for _, r := range c.Resources {
		known = append(known, r.GVR().GroupResource().String())
	}
	for i, name := range caller.Resources {
		if !slices.Contains(known, name) {
			d.wrong(index(path+".resources", i), fmt.Sprintf("%q is not served%s", name, diag.DidYouMean(name, known)), known)
		}
	}
	for i, verb := range caller.Verbs {
		if verbs := []string{"get", "list", "watch"}; !slices.Contains(verbs, verb) {
			d.wrong(index(path+".verbs", i), fmt.Sprintf("there is no verb %q%s", verb, diag.DidYouMean(verb, verbs)), verbs)
		}
	}
	d.checkNamespaces(path+".namespaces", caller.Namespaces)
}

func (d *document) checkResource(mode Mode, before []Resource, r Resource, path string) {
	name := r.GVR().GroupResource().String()
	if r.Version == "" {
		d.wrong(path, "version must be set, such as v1", nil)
	}
	switch {
	case r.Resource == "":
		d.wrong(path, "resource must be set, such as pods", nil)
	case strings.Contains(r.Resource, "/"):
		d.wrong(path+".resource", fmt.Sprintf("%q is a subresource, which has no lists and watches", r.Resource), nil)
	case len(validation.IsDNS1123Label(r.Resource)) > 0:
		d.wrong(path+".resource", fmt.Sprintf("%q is not the name of a resource; that is a plural in lower case, such as pods", r.Resource), nil)
	case name == "secrets" && !r.AllowSecrets:
		d.wrong(path+".resource", "secrets are served only with allowSecrets: true; the relay keeps them in its memory then, and can read all of them", nil)
	case name != "secrets" && r.AllowSecrets:
		d.wrong(path+".allowSecrets", "allowSecrets is for secrets; "+name+" are served without it", nil)
	}
	if r.Version != "" && len(validation.IsDNS1035Label(r.Version)) > 0 {
		d.wrong(path+".version", fmt.Sprintf("%q is not a version, such as v1", r.Version), nil)
	}
	if r.Group != "" && len(validation.IsDNS1123Subdomain(r.Group)) > 0 {
		d.wrong(path+".group", fmt.Sprintf("%q is not an API group, such as apps; the core group is left out", r.Group), nil)
	}
	if slices.ContainsFunc(before, func(other Resource) bool { return other.GVR() == r.GVR() }) {
		d.wrong(path, fmt.Sprintf("%s %s is there twice", name, r.Version), nil)
	}
	d.checkNamespaces(path+".namespaces", r.Namespaces)
	if _, err := labels.Parse(r.LabelSelector); err != nil {
		d.wrong(path+".labelSelector", err.Error(), nil)
	}
	if _, err := fields.ParseSelector(r.FieldSelector); err != nil {
		d.wrong(path+".fieldSelector", err.Error(), nil)
	}
	for i, field := range r.SelectableFields {
		if !isField(field) {
			d.wrong(index(path+".selectableFields", i), fmt.Sprintf("%q is not the path of a field, such as spec.nodeName", field), nil)
		}
	}
	for key, passes := range map[string]bool{"passWrites": r.PassWrites, "strict": r.Strict} {
		if passes && mode != TokenReview && mode != SelfSubjectAccessReview {
			d.wrong(path+"."+key, fmt.Sprintf("only with the modes %s and %s do callers have a token to pass on", TokenReview, SelfSubjectAccessReview), nil)
		}
	}
	if r.Strict && r.LabelSelector+r.FieldSelector+strings.Join(r.Drop, "") != "" {
		d.wrong(path+".strict", "the API server, which answers then, leaves nothing out; take labelSelector, fieldSelector and drop away", nil)
	}
	for i, dropped := range r.Drop {
		if err := upstream.CheckDrop(dropped); err != nil {
			d.wrong(index(path+".drop", i), err.Error(), nil)
		}
	}
	positive(d, path+".history.age", r.History.Age)
	positive(d, path+".history.bytes", r.History.Bytes)
}

func (d *document) checkNamespaces(path string, namespaces []string) {
	for i, ns := range namespaces {
		switch {
		case len(validation.IsDNS1123Label(ns)) > 0:
			d.wrong(index(path, i), fmt.Sprintf("%q is not the name of a namespace", ns), nil)
		case slices.Contains(namespaces[:i], ns):
			d.wrong(index(path, i), fmt.Sprintf("%q is there twice", ns), nil)
		}
	}
}

func (d *document) checkTexts(path string, texts []string) {
	for i, text := range texts {
		if text == "" {
			d.wrong(index(path, i), "must not be empty", nil)
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

func positive[T time.Duration | int | Bytes](d *document, path string, value T) {
	if value <= 0 {
		d.wrong(path, "must be more than 0", nil)
	}
}

func notNegative[T time.Duration | int](d *document, path string, value T) {
	if value < 0 {
		d.wrong(path, "must not be negative", nil)
	}
}
