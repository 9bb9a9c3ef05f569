// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Definitions returns everything that is known about the markers, in the order of the
// documentation.
func Definitions() []*Definition { return slices.Clone(definitions) }

// examples shows each marker as it is written, a line each, by its name.
var examples = map[string]string{
	"genclient":                                "// +genclient",
	"genclient:nonNamespaced":                  "// +genclient:nonNamespaced",
	"genclient:noVerbs":                        "// +genclient:noVerbs",
	"genclient:readonly":                       "// +genclient:readonly",
	"genclient:onlyVerbs":                      "// +genclient:onlyVerbs=get,list,watch",
	"genclient:skipVerbs":                      "// +genclient:skipVerbs=deleteCollection",
	"genclient:noStatus":                       "// +genclient:noStatus",
	"genclient:method":                         "// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale",
	"resourceName":                             "// +resourceName=gizmos",
	"groupName":                                "// +groupName=samples.example.com",
	"groupGoName":                              "// +groupGoName=Samples",
	"versionName":                              "// +versionName=v1beta1",
	"kubebuilder:object:root":                  "// +kubebuilder:object:root=true",
	"kubebuilder:resource":                     "// +kubebuilder:resource:path=gizmos,scope=Cluster",
	"kubebuilder:skip":                         "// +kubebuilder:skip",
	"kubebuilder:skipversion":                  "// +kubebuilder:skipversion",
	"kubebuilder:unservedversion":              "// +kubebuilder:unservedversion",
	"kubebuilder:deprecatedversion":            `// +kubebuilder:deprecatedversion:warning="use example.com/v2 Gizmo"`,
	"informer:generate":                        "// +informer:generate=false",
	"informer:plural":                          "// +informer:plural=Moose",
	"k8s:informer-gen":                         "// +k8s:informer-gen=false",
	"k8s:lister-gen":                           "// +k8s:lister-gen=false",
	"k8s:client-gen":                           "// +k8s:client-gen=false",
	"k8s:prerelease-lifecycle-gen:deprecated":  "// +k8s:prerelease-lifecycle-gen:deprecated=1.21",
	"k8s:prerelease-lifecycle-gen:removed":     "// +k8s:prerelease-lifecycle-gen:removed=1.25",
	"k8s:prerelease-lifecycle-gen:replacement": "// +k8s:prerelease-lifecycle-gen:replacement=policy,v1,PodDisruptionBudget",
	"informer:index": `// +informer:index:name=ByNode,field=.spec.nodeName
// +informer:index:name=ByImage,field=.spec.containers[*].image
// +informer:index:name=ByApp,field=.metadata.labels['app.kubernetes.io/name']
// +informer:index:name=ByNodeAndPhase,field=.spec.nodeName;.status.phase
// +informer:index:name=ByClaim,field=.spec.claimName,when=.spec.suspend==false,namespaced=true
// +informer:index:name=ByController,owner=controller
// +informer:index:name=ByDeployment,owner=Deployment.apps
// +informer:index:name=ByZone,func=Zones`,
}

// Examples show the marker in comments, at least one; they are right by the rules of Parse.
func (d *Definition) Examples() []string { return strings.Split(examples[d.Name], "\n") }

// Usage shows how the marker is written, for example "+informer:index:name=…,field=…|func=…".
func (d *Definition) Usage() string { return d.usage() }

// described is the argument's documentation with what else is to be known about it, in words.
func (arg Arg) described() string {
	var remarks []string
	switch {
	case arg.Required:
		remarks = append(remarks, "required")
	case arg.Instead:
		remarks = append(remarks, "in place of the one before")
	}
	if arg.List {
		remarks = append(remarks, "several values")
	}
	if arg.Empty {
		remarks = append(remarks, "may be empty")
	}
	if len(remarks) == 0 {
		return arg.Doc
	}
	return arg.Doc + " (" + strings.Join(remarks, ", ") + ")"
}

// label names an argument in the documentation.
func (arg Arg) label() string { return arg.Name + "=" }

// where returns in words what the target means for the place of the marker.
func (t Target) where() string {
	if t == Package {
		return "for a package: in any comment of any of its files"
	}
	return "for a type: in its doc comment or in the comment one blank line above it"
}

// WriteText describes markers for a terminal.
func WriteText(w io.Writer, list []*Definition) error {
	var b strings.Builder
	for i, d := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", d.Usage())
		wrapped(&b, "    ", upper(d.Doc)+".")
		wrapped(&b, "    ", upper(d.Target.where())+".")
		for _, arg := range d.Args {
			text := arg.described()
			if len(arg.Allowed) > 0 {
				text += "; allowed: " + strings.Join(arg.Allowed, ", ")
			}
			wrapped(&b, fmt.Sprintf("      %-14s ", arg.label()), text)
		}
		for _, example := range d.Examples() {
			fmt.Fprintf(&b, "    %s\n", example)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrapped writes text in lines of at most 110 letters, the first one behind prefix, the others
// behind as many blanks.
func wrapped(b *strings.Builder, prefix, text string) {
	const width = 110
	line := prefix
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", len(prefix))
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}

// MarshalJSON implements json.Marshaler. Members that are empty are left out, but for name, target,
// doc and examples:
//
//	name       string  with "+"
//	target     string  "type" or "package"
//	doc        string
//	arguments  array of {name, doc, required, list, mayBeEmpty, allowed}; what stands right behind
//	           "=" has no name
//	examples   array of strings, which are comments
func (d *Definition) MarshalJSON() ([]byte, error) {
	type argument struct {
		Name       string   `json:"name,omitempty"`
		Doc        string   `json:"doc"`
		Required   bool     `json:"required,omitempty"`
		List       bool     `json:"list,omitempty"`
		MayBeEmpty bool     `json:"mayBeEmpty,omitempty"`
		Allowed    []string `json:"allowed,omitempty"`
	}
	var arguments []argument
	for _, arg := range d.Args {
		arguments = append(arguments, argument{arg.Name, arg.Doc, arg.Required, arg.List, arg.Empty, arg.Allowed})
	}
	return json.Marshal(struct {
		Name      string     `json:"name"`
		Target    Target     `json:"target"`
		Doc       string     `json:"doc"`
		Arguments []argument `json:"arguments,omitempty"`
		Examples  []string   `json:"examples"`
	}{"+" + d.Name, d.Target, d.Doc, arguments, d.Examples()})
}

// upper is text with a capital letter at its start; markers' documentation is ASCII there.
func upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
