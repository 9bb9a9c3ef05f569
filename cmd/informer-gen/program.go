// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/scaffold"
)

// newProgram has the flags of init about a program.
type newProgram struct{ kind, group, folder string }

func (n *newProgram) check(patterns []string) error {
	switch {
	case n.kind == "" && n.group != "":
		return errors.New("--group is the API group of a new type: it needs --controller KIND")
	case n.kind == "" && n.folder != "":
		return errors.New("--program is the folder of a program: it needs --controller KIND")
	case n.kind != "" && len(patterns) > 0:
		return fmt.Errorf("--controller %s can't be combined with %s: init writes controllers only for kinds of this module; %s",
			n.kind, strings.Join(patterns, " "), byHand)
	}
	return nil
}

// byHand is the way to a controller of a kind in another module.
const byHand = "for a kind of another one, run informer-gen init PACKAGE, write controllers: true into informer-gen.yaml, and make the controller " +
	"by the method Reconcile of the kind's informer (docs/controllers.md)"

// builtIn has names of Kubernetes' own kinds, for an error that says the way.
var builtIn = []string{
	"ConfigMap", "CronJob", "DaemonSet", "Deployment", "EndpointSlice", "Endpoints", "Event", "HorizontalPodAutoscaler", "Ingress",
	"IngressClass", "Job", "Lease", "LimitRange", "Namespace", "NetworkPolicy", "Node", "PersistentVolume", "PersistentVolumeClaim",
	"Pod", "PodDisruptionBudget", "ReplicaSet", "ResourceQuota", "Secret", "Service", "ServiceAccount", "StatefulSet", "StorageClass",
}

// addTo chooses the type and adds the program to the project.
func (n *newProgram) addTo(ctx context.Context, p *scaffold.Project) error {
	types, err := p.Types(ctx)
	if err != nil {
		return fmt.Errorf("looking for the type %s: %w", n.kind, err)
	}
	found := typesNamed(n.kind, types)
	if n.group != "" {
		if len(found) > 0 {
			return fmt.Errorf("--group is for a new type, but there is a type %s in package %s: leave --group out", found[0].Name, found[0].Package)
		}
		return p.ControlNew(n.kind, n.group, n.folder)
	}
	switch len(found) {
	case 0:
		return n.addNew(p, types)
	case 1:
		t := found[0]
		if !t.Generated {
			advice := ""
			if t.Advice != "" {
				advice = "; " + t.Advice
			}
			return fmt.Errorf("the type %s of package %s isn't generated: %s%s", t.Name, t.Package, t.Reason.Text, advice)
		}
		return p.Control(t, n.folder)
	}
	var forms []string
	for _, t := range found {
		forms = append(forms, fmt.Sprintf("--controller %s (version %s of %s, package %s)", uniqueName(t, types), t.Version.Text, t.Group.Text, t.Package))
	}
	return fmt.Errorf("%s is the name of %d types; write one of these:\n\t%s", n.kind, len(found), strings.Join(forms, "\n\t"))
}

// addNew adds a program with a new type, unless the name looks like a mistake.
func (n *newProgram) addNew(p *scaffold.Project, types []generator.InspectedType) error {
	const anyway = "; for a new type of this name, add --group GROUP"
	if slices.Contains(builtIn, n.kind) {
		return fmt.Errorf("%s is a kind of Kubernetes, and init writes controllers only for kinds of this module; %s%s", n.kind, byHand, anyway)
	}
	var names []string
	for _, t := range types {
		if t.Generated {
			names = append(names, t.Name)
		}
	}
	if near := diag.DidYouMean(n.kind, names); near != "" {
		return fmt.Errorf("there is no type %s in the module%s%s", n.kind, near, strings.Replace(anyway, "; f", " F", 1))
	}
	return p.ControlNew(n.kind, "", n.folder)
}

// uniqueName returns the shortest name, as for explain, which no other of the types has.
func uniqueName(t generator.InspectedType, types []generator.InspectedType) string {
	for _, name := range []string{t.Name + "." + t.Group.Text, path.Base(t.Package) + "." + t.Name} {
		if len(typesNamed(name, types)) == 1 {
			return name
		}
	}
	return t.Package + "." + t.Name
}

// completeControllers offers the kinds of the module. It prints no errors.
func completeControllers(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	p, err := scaffold.Look(".", "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	types, err := p.Types(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, t := range types {
		if t.Generated {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}

// programSteps are the commands after the one that gets informer-gen.
func programSteps(p *scaffold.Project) (lines []string) {
	c := p.Controller
	below := func(name string) string { return "./" + path.Join(c.Folder, name) }
	if !p.HasDevserver {
		get := "  go get -tool " + scaffold.Devserver
		if raised := p.RaisedKubernetes(); raised != "" {
			get += "    # raises Kubernetes libraries to " + raised + "; to keep yours, delete " + path.Join(c.Folder, "cmd/main_test.go") + " instead"
		}
		lines = append(lines, get)
	}
	if c.NeedsControllerGen() && !p.HasControllerGen {
		lines = append(lines, "  go get -tool "+scaffold.ControllerGen+"@"+scaffold.ControllerGenVersion)
	}
	generates := "the informers"
	if c.NeedsControllerGen() {
		generates = "the CustomResourceDefinition and the informers"
	}
	if c.New {
		generates = "deep copies, the CustomResourceDefinition and the informers"
	}
	steps := [][2]string{
		{"go generate ./...", generates},
		{"go mod tidy", "requires the imported modules"},
		{"go test " + below("internal/..."), "in memory"},
		{"go test " + below("cmd"), "with an API server, whose first build takes minutes"},
	}
	width := 0
	for _, step := range steps {
		width = max(width, len(step[0]))
	}
	for _, step := range steps {
		lines = append(lines, fmt.Sprintf("  %-*s    # %s", width, step[0], step[1]))
	}
	lines = append(lines,
		"  go tool devserver --built-in-kinds --crds "+c.CRDs+" -- go run "+below("cmd"),
		"",
		"The last one runs the program with an API server of its own; http://localhost:8080/debug/informers shows it.",
		"With the cluster of kubectl:",
		"",
		"  kubectl apply -k "+c.CRDKustomization(),
		"  go run "+below("cmd"))
	if c.New {
		lines = append(lines, "  kubectl apply -f "+path.Join(c.Folder, "config/samples", strings.ToLower(c.Kind)+".yaml"))
	}
	return lines
}
