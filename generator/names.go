// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/generator/model"
)

func upperFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// docLines returns the lines of a doc comment without markers, and, apart from them, the text of
// the paragraph that begins with "Deprecated: ".
func docLines(doc *ast.CommentGroup) (lines []string, deprecated string) {
	inDeprecated := false
	for line := range strings.SplitSeq(strings.TrimRight(doc.Text(), "\n"), "\n") {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "+") {
			continue
		}
		if rest, ok := strings.CutPrefix(text, "Deprecated: "); ok && deprecated == "" && (len(lines) == 0 || strings.TrimSpace(lines[len(lines)-1]) == "") {
			deprecated, inDeprecated = strings.TrimSpace(rest), true
			continue
		}
		switch {
		case text == "":
			inDeprecated = false
		case inDeprecated:
			deprecated += " " + text
			continue
		}
		if text != "" || len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) != "" {
			lines = append(lines, line)
		}
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, deprecated
}

// deprecations fills in why the kinds of a package are deprecated. What the type's doc comment says
// comes first, then what markers say.
func (r *resolver) deprecations(a *api) {
	for _, k := range a.kinds {
		versions := marker.All[kubebuilder.DeprecatedVersion](k.declared.markers)
		for _, m := range versions {
			if other := versions[0]; m.Warning.IsSet() && other.Warning.IsSet() && m.Warning.Text != other.Warning.Text {
				r.fail(m.At, m.Warning.Pos, fmt.Sprintf("%q contradicts %q of %s at %s", m.Warning.Text, other.Warning.Text, other.Name, r.short(other.Pos)), nil)
			}
		}
		is := groupVersion(a.group.text, a.version.text) + " " + k.Name + " is deprecated"
		switch {
		case k.Deprecated != "":
		case len(versions) > 0 && versions[0].Warning.Text != "":
			k.Deprecated = strings.Join(strings.Fields(versions[0].Warning.Text), " ")
		case len(versions) > 0:
			k.Deprecated = is + "." // the words of the API server
		default:
			k.Deprecated = r.lifecycle(k.declared, is)
		}
	}
}

// lifecycle is the deprecation of a type by the tags that prerelease-lifecycle-gen reads, or "". A
// type without a replacement isn't deprecated yet: its tag is a plan that is made when the type is
// introduced.
func (r *resolver) lifecycle(d *declared, is string) string {
	since, removed := marker.First[marker.LifecycleDeprecated](d.markers), marker.First[marker.LifecycleRemoved](d.markers)
	to := marker.First[marker.LifecycleReplacement](d.markers)
	if since == nil || to == nil || len(to.Type) != 3 {
		return ""
	}
	text := is + " since Kubernetes " + since.Release.Text
	if removed != nil {
		text += " and not served from " + removed.Release.Text + " on"
	}
	return text + ": use " + groupVersion(to.Type[0].Text, to.Type[1].Text) + " " + to.Type[2].Text + "."
}

func groupVersionOf(a *api) [2]string { return [2]string{a.group.text, a.version.text} }

// collisions reports kinds, and their indexes, that would meet in the packages that are generated
// for apis. The templates check this too, for any model; here the findings have positions.
func (r *resolver) collisions(apis []*api) {
	type owner struct {
		what string
		pos  token.Position
		api  *api
	}
	taken := map[string]owner{}
	claim := func(o owner, use, name string) bool {
		other, ok := taken[use+name]
		if !ok {
			taken[use+name] = o
			return true
		}
		advice := ""
		switch {
		// which only meet in the layout Single
		case groupVersionOf(other.api) != groupVersionOf(o.api):
			advice = ": use the grouped layout, where each version has packages of its own"
		case other.api != o.api:
			advice = ": for the type that no server has, " + o.api.advice("// +informer:generate=false above it", "generate: false")
		}
		r.failAt(o.pos, fmt.Sprintf("%s and %s (%s) would both have the %s%s%s", o.what, other.what, r.short(other.pos), use, name, advice))
		return false
	}
	resources := map[[2]string]map[string]owner{}
	for _, a := range apis {
		served := resources[groupVersionOf(a)]
		if served == nil {
			served = map[string]owner{}
			resources[groupVersionOf(a)] = served
		}
		slices.SortFunc(a.kinds, func(a, b *kind) int { return strings.Compare(a.Name, b.Name) })
		for _, k := range a.kinds {
			o := owner{"type " + k.Name, k.pos, a}
			if len(apis) > 1 {
				o.what += " of package " + a.pkg.Path
			}
			if !claim(o, "file name ", strings.ToLower(k.Name)) {
				continue
			}
			if other, ok := served[k.Resource]; ok {
				r.failAt(k.pos, fmt.Sprintf("%s and %s (%s) would both have the resource %s", o.what, other.what, r.short(other.pos), k.Resource))
				continue
			}
			served[k.Resource] = o
			if !claim(o, "accessor ", k.Plural) {
				continue
			}
			names := []string{"New" + k.Name + "Lister", k.Name + "Lister", k.Name + "ListerExpansion", k.Name + "Resource"}
			if k.Namespaced {
				names = append(names, k.Name+"NamespaceLister", k.Name+"NamespaceListerExpansion")
			}
			if len(k.Indexes) > 0 {
				names = append(names, k.Name+"Indexes", k.Name+"Lookups")
			}
			if r.layout == model.Single { // else informers have a package of their own
				names = append(names, k.Name+"Informer", "With"+k.Plural)
			}
			for _, name := range names {
				if !claim(o, "Go name ", name) {
					break
				}
			}
			for i, x := range k.Indexes {
				of := owner{"index " + x.Name + " of " + o.what, k.indexes[i], a}
				names := []string{k.Name + x.Name, k.Name + x.Name + "Index"}
				if len(x.Paths) > 1 {
					names = append(names, k.Name+x.Name+"Key")
				}
				for _, name := range names {
					if !claim(of, "Go name ", name) {
						break
					}
				}
			}
		}
	}
}
