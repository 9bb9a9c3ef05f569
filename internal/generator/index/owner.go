// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
)

const typesPath = "k8s.io/apimachinery/pkg/types"

var kindPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// Owners are the known owner kinds.
type Owners struct {
	kinds map[string][]string // sorted, by group
	// partial means that unread packages of the project may have more kinds.
	partial bool
}

// NewOwners returns the built-in kinds of an API server.
func NewOwners(partial bool) *Owners {
	o := &Owners{kinds: map[string][]string{}, partial: partial}
	for group, kinds := range builtIns {
		o.kinds[group] = slices.Sorted(strings.FieldsSeq(kinds))
	}
	return o
}

// Add adds a kind.
func (o *Owners) Add(group, kind string) {
	if i, ok := slices.BinarySearch(o.kinds[group], kind); !ok {
		o.kinds[group] = slices.Insert(o.kinds[group], i, kind)
	}
}

func (r *Reader) owner(m *marker.Index, x *model.Index) bool {
	owner, problem := r.owners.parse(m.Owner.Text)
	if problem != nil {
		r.failIn(m, m.Owner, problem)
	}
	if owner == nil {
		return false
	}
	x.Owner, x.Key = owner, model.GoType{Name: "string"}
	if owner.Controller {
		x.Key = model.GoType{Path: typesPath, Package: "types", Name: "UID"}
	}
	return true
}

// hasOwners reports whether objects have their owners, which projections may lack.
func (r *Reader) hasOwners(k Kind, m *marker.Index) bool {
	const path = ".metadata.ownerReferences"
	if k.ProjectionOf == nil {
		return true
	}
	// the function that reads owners can't use partial ones
	if f, problem := followText(k.Type, path+"[*].uid"); problem != nil || f.fields[len(f.fields)-1].Pkg() == k.Type.Obj().Pkg() {
		r.report.Fail(m.At, m.Owner.Pos, fmt.Sprintf("projection %s doesn't have all of %s, where an object's owners are: add it to the fields at %s", k.Name, path, r.report.Short(k.Fields)))
		return false
	}
	return true
}

// parse parses an owner. It returns nil if the text is wrong; otherwise the error may be a warning.
func (o *Owners) parse(text string) (*model.Owner, *jsonpath.Error) {
	if text == "controller" {
		return &model.Owner{Controller: true}, nil
	}
	fail := func(offset int, format string, args ...any) (*model.Owner, *jsonpath.Error) {
		return nil, jsonpath.Errorf(offset, format, args...)
	}
	const want = "write controller, or a kind and its group as in Deployment.apps (or Node for the core group)"
	kindName, group, hasGroup := strings.Cut(text, ".")
	behind := len(kindName) + len(".")
	version, rest, _ := strings.Cut(group, ".")
	switch {
	case text == "":
		return fail(0, "the owner is empty: %s", want)
	case strings.EqualFold(text, "controller"):
		return fail(0, "no kind of the core group is called %s, did you mean controller?", text)
	case strings.Contains(text, "/"):
		return fail(strings.Index(text, "/"), "an owner has neither slash nor version: %s", want)
	case names.LooksLikeVersion(version):
		hint := kindName
		if rest != "" {
			hint += "." + rest
		}
		return fail(behind, "owners of any version count: write %s without the version %s", hint, version)
	case !kindPattern.MatchString(kindName):
		return fail(0, "%q isn't a kind, which begins with an upper-case letter as in ownerReferences: %s", kindName, want)
	case hasGroup && (group == "" || !names.IsGroup(group)):
		return fail(behind, "%q isn't a group name: %s", group, want)
	}
	problem := o.unknown(kindName, group)
	if problem != nil && !problem.Warning {
		return nil, problem
	}
	return &model.Owner{Kind: kindName, Group: group}, problem
}

// unknown returns a problem if a kind isn't known, else nil. It is an error if the group is known
// and lacks the kind. An unknown group may be served all the same, so a warning names the
// assumption. So may a kind younger than builtIns or, in a partial run, one of an unread package.
func (o *Owners) unknown(kindName, group string) *jsonpath.Error {
	kinds, known := o.kinds[group]
	if slices.Contains(kinds, kindName) {
		return nil
	}
	_, isBuiltIn := builtIns[group]
	hint := ""
	if name := o.sameKind(kindName); known && name != "" {
		hint = diag.DidYouMean(name, []string{name})
	} else {
		hint = diag.DidYouMean(ownerName(kindName, group), o.names())
	}
	what := "group " + group
	if group == "" {
		what = "the core group"
	}
	assumed := fmt.Sprintf("owners of kind %s whose apiVersion begins with %s/ are matched", kindName, group)
	warn := func(format string, args ...any) *jsonpath.Error {
		p := jsonpath.Errorf(0, format, args...)
		p.Warning = true
		return p
	}
	switch {
	case !known && hint != "":
		return warn("%s is neither built in nor declared by a package of this run%s As it stands, %s", what, hint, assumed)
	case !known:
		return warn("%s is neither built in nor declared by a package of this run: %s", what, assumed)
	case hint == "" && group != "" && (isBuiltIn || o.partial):
		return warn("no kind %s of %s is known: %s", kindName, what, assumed)
	}
	p := jsonpath.Errorf(0, "%s has no kind %s%s", what, kindName, hint)
	if !isBuiltIn {
		if hint == "" {
			p.Message += ": if there is one, add its package to inputs, or its CustomResourceDefinition to crds"
		}
		for _, kind := range kinds {
			p.Allowed = append(p.Allowed, ownerName(kind, group))
		}
	}
	return p
}

// sameKind returns an owner of that kind in any group, as users write it, or "". Groups of the run
// come before built-in ones.
func (o *Owners) sameKind(kind string) string {
	builtIn := ""
	for _, group := range slices.Sorted(maps.Keys(o.kinds)) {
		if !slices.Contains(o.kinds[group], kind) {
			continue
		}
		if _, ok := builtIns[group]; !ok {
			return ownerName(kind, group)
		}
		if builtIn == "" {
			builtIn = ownerName(kind, group)
		}
	}
	return builtIn
}

func (o *Owners) names() []string {
	var all []string
	for _, group := range slices.Sorted(maps.Keys(o.kinds)) {
		for _, kind := range o.kinds[group] {
			all = append(all, ownerName(kind, group))
		}
	}
	return all
}

func ownerName(kind, group string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}
