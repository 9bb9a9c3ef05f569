// SPDX-License-Identifier: Apache-2.0

package configfile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Describe writes a summary of the served resources, their callers and the address.
func (c *Config) Describe(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	transport := "without TLS, for this machine only"
	if c.Listen.CertFile != "" {
		transport = "TLS with " + c.Listen.CertFile
	}
	fmt.Fprintf(out, "listens at\t%s, %s\n", c.Listen.Address, transport)
	if c.Listen.Probes != "" {
		fmt.Fprintf(out, "probes at\t%s\n", c.Listen.Probes)
	}
	fmt.Fprintf(out, "callers\t%s\n", c.Access.describe(c.Listen.ClientCAFile != ""))
	watches := 0
	for _, r := range c.Resources {
		watches += max(1, len(r.Namespaces))
		for i, path := range r.paths() {
			fmt.Fprintf(out, "%s\t%s\n", map[bool]string{true: "serves"}[i == 0], path)
		}
		fmt.Fprintf(out, "\t  %s\n", r.describe())
	}
	fmt.Fprintf(out, "watches\t%d at the API server\n", watches)
	fmt.Fprintf(out, "ends\tin %v: %v not ready, then its watches, over %v\n", c.Shutdown.Delay+c.Shutdown.Period, c.Shutdown.Delay, c.Shutdown.Period)
	return out.Flush()
}

func (a Access) describe(certificates bool) string {
	switch a.Mode {
	case Certificates:
		var names []string
		for _, caller := range a.Callers {
			names = append(names, caller.Names...)
		}
		slices.Sort(names)
		return "client certificates of " + strings.Join(slices.Compact(names), ", ")
	case None:
		return "everyone on this machine"
	}
	how := "their own tokens, reviewed by SelfSubjectAccessReview"
	if a.Mode == TokenReview {
		how = "tokens"
		if certificates {
			how = "tokens and client certificates"
		}
		how += ", reviewed by TokenReview and SubjectAccessReview"
	}
	return fmt.Sprintf("%s; open watches every %v", how, a.ReviewWatchesEvery)
}

func (r Resource) paths() (paths []string) {
	base := "/apis/" + schema.GroupVersion{Group: r.Group, Version: r.Version}.String()
	if r.Group == "" {
		base = "/api/" + r.Version
	}
	for _, ns := range r.Namespaces {
		paths = append(paths, base+"/namespaces/"+ns+"/"+r.Resource)
	}
	if len(paths) == 0 {
		paths = append(paths, base+"/"+r.Resource)
	}
	return paths
}

func (r Resource) describe() string {
	parts := []string{fmt.Sprintf("history %v, %s", r.History.Age, resource.NewQuantity(int64(r.History.Bytes), resource.BinarySI))}
	if r.History.MergeSlow {
		parts[0] += ", then merged"
	}
	if r.Protobuf {
		parts = append(parts, "protobuf")
	}
	switch {
	case r.Strict:
		parts = append(parts, "writes, gets, and lists without a version go to the API server")
	case r.PassWrites:
		parts = append(parts, "writes go to the API server")
	}
	for _, p := range []struct{ what, value string }{
		{"only labels ", r.LabelSelector},
		{"only fields ", r.FieldSelector},
		{"selectable by ", strings.Join(r.SelectableFields, ", ")},
		{"without ", strings.Join(r.Drop, ", ")},
	} {
		if p.value != "" {
			parts = append(parts, p.what+p.value)
		}
	}
	return strings.Join(parts, "; ")
}
