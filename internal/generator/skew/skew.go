// SPDX-License-Identifier: Apache-2.0

// Package skew finds modules in which go mod tidy would select a k8s.io/client-go older than their
// Kubernetes libraries, which does not compile. Such a module has API types but doesn't import
// client-go; generated code does.
package skew

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

const (
	path = "k8s.io/client-go"
	// oldest is the version go mod tidy selects by default: the runtime requires it.
	oldest = "v0.33.0"
)

// Missing is a version of client-go to require.
type Missing struct {
	Get   string // the argument of go get
	Line  int    // of the newer library in go.mod
	newer string
	taken string
}

// Why says why the version is needed, and how to add it.
func (m *Missing) Why() string {
	return fmt.Sprintf("generated code imports %s, which must be as new as %s: run go get %s before go mod tidy, which otherwise selects %s",
		path, m.newer, m.Get, m.taken)
}

// Find returns the version the module of a go.mod must require; nil if none, or if the go.mod can't
// be read.
func Find(name string) *Missing {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	file, err := modfile.Parse(name, data, nil)
	if err != nil || slices.ContainsFunc(file.Replace, func(r *modfile.Replace) bool { return r.Old.Path == path }) {
		return nil
	}
	taken := oldest
	var newest *modfile.Require
	for _, r := range file.Require {
		switch r.Mod.Path {
		case path:
			if !r.Indirect { // the project imports both as they are
				return nil
			}
			if semver.Compare(r.Mod.Version, taken) > 0 {
				taken = r.Mod.Version
			}
		case "k8s.io/apimachinery", "k8s.io/api":
			if !module.IsPseudoVersion(r.Mod.Version) && (newest == nil || semver.Compare(r.Mod.Version, newest.Mod.Version) > 0) {
				newest = r
			}
		}
	}
	if newest == nil || semver.Compare(semver.MajorMinor(newest.Mod.Version), semver.MajorMinor(taken)) <= 0 {
		return nil
	}
	return &Missing{Get: path + "@" + newest.Mod.Version, Line: newest.Syntax.Start.Line, newer: newest.Mod.Path, taken: taken}
}
