// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// leaveOut leaves out folders without API types. No kind in them could be generated, and the first
// would stop the run. If no folder remains, the generator reports the reasons.
func (p *Project) leaveOut() {
	isMarked := slices.ContainsFunc(p.packages, folder.isMarked)
	var kept []folder
	var left []LeftOut
	hasDeepCopy := false
	for _, f := range p.packages {
		hasDeepCopy = hasDeepCopy || p.isDeepCopied(f)
	}
	for _, f := range p.packages {
		why := ""
		if f.isMarked() == isMarked {
			why = p.whyNoAPI(f)
			if why == "" && hasDeepCopy && !p.isDeepCopied(f) {
				why = "its types have no method DeepCopyObject; if they are an API, let controller-gen object or deepcopy-gen write it first"
			}
		}
		if why == "" {
			kept = append(kept, f)
		} else {
			left = append(left, LeftOut{f.name, why})
		}
	}
	if len(kept) > 0 {
		p.packages, p.LeftOut = kept, left
	}
}

// whyNoAPI returns the reason why none of a folder's types is an API type: all embed metadata
// declared in this module.
func (p *Project) whyNoAPI(f folder) string {
	why := ""
	for _, k := range f.kinds {
		dir, ok := strings.CutPrefix(k.meta+"/", p.Module+"/")
		if !ok || !declares(filepath.Join(p.Dir, filepath.FromSlash(dir)), ownMeta) {
			return ""
		}
		why = fmt.Sprintf("its types embed the ObjectMeta of %s, not that of metav1", k.meta)
	}
	return why
}

func (p *Project) isDeepCopied(f folder) bool {
	dir := filepath.Join(p.Dir, filepath.FromSlash(f.name))
	return slices.ContainsFunc(f.kinds, func(k kind) bool {
		return declares(dir, regexp.MustCompile(`(?m)^func \(\w* ?\*?`+k.name+`\) DeepCopyObject\(\)`))
	})
}

// ownMeta matches the declaration of a struct, but not an alias of metav1's.
var ownMeta = regexp.MustCompile(`(?m)^(?:type |\t)ObjectMeta struct\b`)

// declares reports whether text matches a Go file in a folder, tests aside.
func declares(dir string, text *regexp.Regexp) bool {
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return slices.ContainsFunc(names, func(name string) bool {
		data, err := os.ReadFile(name)
		return err == nil && !strings.HasSuffix(name, "_test.go") && text.Match(unixLines(data))
	})
}
