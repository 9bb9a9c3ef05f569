// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"path/filepath"

	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/output"
	"github.com/informer-gen/informer-gen/internal/generator/resolve"
	"github.com/informer-gen/informer-gen/templates"
)

// render returns the rendered files, or the reason why there are none. Only this file knows the
// templates.
func (s settings) render(result resolve.Result, roots []*load.Package) ([]model.File, error) {
	if errs, _ := result.Findings.Split(); len(errs) > 0 {
		return nil, errWrong
	}
	if len(result.Output.Groups) == 0 {
		return nil, s.nothingError(roots)
	}
	return templates.Render(result.Output)
}

// renderValid is render, but returns no files and no error if the findings have an error or there
// is nothing to generate.
func renderValid(result resolve.Result) ([]model.File, error) {
	if errs, _ := result.Findings.Split(); len(errs) > 0 || len(result.Output.Groups) == 0 {
		return nil, nil
	}
	return templates.Render(result.Output)
}

func (s settings) nothingError(roots []*load.Package) error {
	in := fmt.Sprintf("the %d packages that were read", len(roots))
	nested := s.nestedModules()
	switch len(roots) {
	case 0:
		return fmt.Errorf("%w: the patterns match no package with Go files for this system and these build tags, outside of the output%s", ErrNothing, nested)
	case 1:
		in = "package " + roots[0].Path
	}
	advice := ""
	if !s.discover {
		advice = " (--discover selects all with metav1.TypeMeta and metav1.ObjectMeta)"
	}
	return fmt.Errorf("%w: in %s, no type with metav1.ObjectMeta and the verbs list and watch has +genclient or +kubebuilder:object:root=true above it%s%s", ErrNothing, in, advice, nested)
}

func (t target) handwrittenNames(group *model.Group, version *model.Version) map[string]bool {
	return output.HandwrittenNames(filepath.Join(t.dir, filepath.FromSlash(t.layout.ListerDir(group, version))))
}
