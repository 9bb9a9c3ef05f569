// SPDX-License-Identifier: Apache-2.0

package output

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func TestExistingReturnsOurFilesOnly(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{
		"informers/factory.go":              generated("", ""),
		"listers/a/v1/thing.go":             generated("example.com/a", ""),
		"listers/a/v1/crlf.go":              strings.ReplaceAll(generated("example.com/crlf", ""), "\n", "\r\n"),
		"listers/a/v1/boilerplate.go":       "// Copyright.\n\n" + generated("example.com/boilerplate", ""),
		"listers/a/v1/block.go":             "/*\npackage of licences\n*/\n\n" + generated("example.com/block", ""),
		"listers/a/v1/quoted.go":            "/*\n" + model.HeaderLine + "\n*/\npackage v1\n",
		"listers/a/v1/mine.go":              "package v1\n",
		"listers/a/v1/.informer-gen-7-x.go": generated("example.com/a", ""),
		"thing.go":                          generated("example.com/a", ""),
		"mine.go":                           "package p\n",
		"notes.txt":                         generated("", ""),
		".informer-gen-1-x.go":              generated("", ""),
		"elsewhere/thing.go":                generated("example.com/a", ""),
	})
	got, err := Existing(root)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"informers/factory.go":        "",
		"listers/a/v1/block.go":       "example.com/block",
		"listers/a/v1/boilerplate.go": "example.com/boilerplate",
		"listers/a/v1/crlf.go":        "example.com/crlf",
		"listers/a/v1/thing.go":       "example.com/a",
		"thing.go":                    "example.com/a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, err := Existing(filepath.Join(root, "nowhere")); err != nil || len(got) > 0 {
		t.Errorf("Existing of a missing folder = %v, %v", got, err)
	}
}
