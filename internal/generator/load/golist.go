// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/informer-gen/informer-gen/internal/diag"
)

const (
	filesOnly   = packages.NeedName | packages.NeedFiles
	withImports = filesOnly | packages.NeedImports | packages.NeedDeps | packages.NeedModule
)

func (c Config) list(ctx context.Context, mode packages.LoadMode, patterns []string) ([]*packages.Package, error) {
	config := &packages.Config{Context: ctx, Mode: mode, Dir: c.Dir, Env: c.Env}
	if len(c.Tags) > 0 {
		config.BuildFlags = []string{"-tags=" + strings.Join(c.Tags, ",")}
	}
	listed, err := packages.Load(config, patterns...)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the packages %s: %w", strings.Join(patterns, " "), goError(err))
	}
	packages.Visit(listed, nil, func(meta *packages.Package) {
		if len(meta.GoFiles) > 0 {
			meta.Errors = slices.DeleteFunc(meta.Errors, aboutTests)
		}
		// The go command names files relative to the folder that it runs in.
		for i, e := range meta.Errors {
			if name := parsePosition(e.Pos).Filename; name != "" && !filepath.IsAbs(name) {
				meta.Errors[i].Pos = filepath.Join(c.Dir, e.Pos)
			}
		}
	})
	return listed, nil
}

// aboutTests reports whether an error concerns only tests, which no run reads. If a package has two
// names, the go command takes the first file's, so the error stays if that file is a test.
func aboutTests(e packages.Error) bool {
	const test = "_test.go"
	if m := twoPackages.FindStringSubmatch(e.Msg); m != nil {
		return !strings.HasSuffix(m[1], test) && strings.HasSuffix(m[2], test)
	}
	return strings.HasSuffix(parsePosition(e.Pos).Filename, test) || onlyTests.MatchString(e.Msg)
}

// Messages of the go command without a position.
var (
	twoPackages = regexp.MustCompile(`^found packages \S+ \((\S+)\) and \S+ \((\S+)\) in `)
	onlyTests   = regexp.MustCompile(`^use of cgo in test |^\S+_test\.go: `)
)

// matched returns the listed packages with Go files, without those skipped by Skip. The error is a
// [diag.List] about the patterns of the others.
func (c Config) matched(listed []*packages.Package) (roots []*packages.Package, err error) {
	var problems diag.List
	for _, meta := range listed {
		if meta.Dir != "" && c.Skip != nil && c.Skip(meta.Dir) {
			continue
		}
		if meta.PkgPath == fromFiles && len(meta.GoFiles) > 0 {
			problems.Add(diag.Diagnostic{Message: "a Go file isn't a package pattern: name the folder it is in"})
			continue
		}
		if len(meta.GoFiles) == 0 {
			if meta.Dir != "" && !c.names(meta) {
				continue // such a package may have only tests, C, or files for another system
			}
			for _, e := range meta.Errors {
				problem := listProblem(e)
				problem.Message += c.advice(meta.PkgPath, problem.Message)
				if problem.Pos.Filename == "" && !strings.Contains(problem.Message, meta.PkgPath) {
					problem.Message = "package " + meta.PkgPath + ": " + problem.Message
				}
				problems.Add(problem)
			}
			continue
		}
		roots = append(roots, meta)
	}
	if len(problems) > 0 {
		return nil, problems.Sorted()
	}
	return roots, nil
}

// goError returns the go command's own message when it fails as a whole, without go/packages'
// prefix.
func goError(err error) error {
	why, said, ok := strings.Cut(strings.TrimPrefix(err.Error(), "err: "), ": stderr: ")
	if said = strings.TrimSpace(said); ok && said != "" {
		return errors.New(said)
	}
	return errors.New(why)
}

// oneLine removes line breaks from a message, and advice bound to the folder of the go command.
func oneLine(s string) string {
	return adviceFolder.ReplaceAllString(strings.Join(strings.Fields(s), " "), "to add it: go get")
}

// fromFiles is the go command's import path for files named one by one.
const fromFiles = "command-line-arguments"

var errCycle = errors.New("import cycle not allowed")
