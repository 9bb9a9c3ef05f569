// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"fmt"
	"go/ast"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// docLines returns the lines of a doc comment without its markers, and separately the text of its
// "Deprecated: " paragraph.
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

// deprecations fills in why the kinds of a package are deprecated. A type's doc comment overrides
// markers.
func deprecations(r *report.Report, a *api) {
	for _, k := range a.kinds {
		versions := marker.All[kubebuilder.DeprecatedVersion](k.decl.markers)
		for _, m := range versions {
			if other := versions[0]; m.Warning.IsSet() && other.Warning.IsSet() && m.Warning.Text != other.Warning.Text {
				r.Fail(m.At, m.Warning.Pos, fmt.Sprintf("%q contradicts %q of %s at %s", m.Warning.Text, other.Warning.Text, other.Name, r.Short(other.Pos)))
			}
		}
		is := groupVersionText(a.group.Text, a.version.Text) + " " + k.Name + " is deprecated"
		switch {
		case k.Deprecated != "":
		case len(versions) > 0:
			// the API server's default wording
			k.Deprecated = cmp.Or(inComment(versions[0].Warning.Text), is+".")
		default:
			k.Deprecated = inComment(lifecycle(k.decl, is))
		}
	}
}

// inComment returns a marker's text as one line, without unprintable characters, which escapes can
// produce and Go comments can't hold.
func inComment(text string) string {
	printable := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(printable), " ")
}

// lifecycle returns the deprecation of a type by the tags for prerelease-lifecycle-gen, or "".
func lifecycle(d *typeDecl, is string) string {
	since, removed := marker.First[marker.LifecycleDeprecated](d.markers), marker.First[marker.LifecycleRemoved](d.markers)
	to := marker.First[marker.LifecycleReplacement](d.markers)
	if since == nil || to == nil || len(to.Type) != 3 {
		return ""
	}
	text := is + " since Kubernetes " + since.Release.Text
	if removed != nil {
		text += " and not served from " + removed.Release.Text + " on"
	}
	return text + ": use " + groupVersionText(to.Type[0].Text, to.Type[1].Text) + " " + to.Type[2].Text + "."
}

func groupVersionText(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}
