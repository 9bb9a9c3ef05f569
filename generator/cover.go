// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/output"
)

// checkCovered fails if files of packages left out by the patterns would be deleted. Files of
// packages that no longer exist don't count.
func checkCovered(ctx context.Context, cfg load.Config, to target, roots []*load.Package) error {
	files, err := output.Existing(to.dir)
	if err != nil {
		return err
	}
	matched := map[string]bool{"": true}
	for _, root := range roots {
		matched[root.Path] = true
	}
	var left []string
	for _, source := range files {
		if !matched[source] {
			matched[source] = true
			left = append(left, source)
		}
	}
	if len(left) == 0 {
		return nil
	}
	exists, err := load.Exists(ctx, cfg, left)
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(path string) bool { return !exists[path] })
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return fmt.Errorf("the output has files of packages that this run leaves out:\n\t%s\n"+
		"name these packages too to keep their files, or use --prune to remove them", strings.Join(left, "\n\t"))
}
