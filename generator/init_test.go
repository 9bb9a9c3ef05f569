// SPDX-License-Identifier: Apache-2.0

package generator_test

import (
	"testing"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/generator/scaffold"
)

// TestInitIsAcceptedByTheNextRun runs informer-gen init and then informer-gen for every golden.
func TestInitIsAcceptedByTheNextRun(t *testing.T) {
	generator.GoldensAfter(t, func(dir string) error {
		project, err := scaffold.Look(dir, "2026")
		if err != nil {
			return err
		}
		_, err = project.Write(false)
		return err
	}, map[string]string{
		"config_keep_going":            "a package doesn't compile, and only the golden's file sets keepGoing",
		"config_kinds":                 "only the golden's file has the group",
		"config_pods_by_node":          "the kinds are in another module, which init takes as an argument",
		"config_says_what_markers_say": "only the golden's file has group and version",
		"projection_in_config":         "the kinds are in another module, which init takes as an argument",
		"keep_going":                   "a type doesn't compile, and only a flag sets keepGoing",
	})
}
