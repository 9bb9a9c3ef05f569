// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// counts are the sizes of an output.
type counts struct{ kinds, files, lines int }

var listerType = regexp.MustCompile(`(?m)^type (\w+)Lister interface`)

// count counts what is in a folder.
func count(dir string) (counts, error) {
	var n counts
	err := eachFile(dir, func(_ string, text []byte) error {
		n.files++
		n.lines += strings.Count(string(text), "\n")
		for _, match := range listerType.FindAllSubmatch(text, -1) {
			if kind := string(match[1]); kind == "Namespace" || !strings.HasSuffix(kind, "Namespace") {
				n.kinds++
			}
		}
		return nil
	})
	return n, err
}

// touch gives all Go files of a folder a last line that they have not had before.
func touch(dir string, run int) error {
	return eachFile(dir, func(name string, text []byte) error {
		before, _, _ := strings.Cut(string(text), compiled)
		return os.WriteFile(name, fmt.Appendf(nil, "%s%s%d of process %d\n", before, compiled, run, os.Getpid()), 0o644)
	})
}

const compiled = "\n// Compiled in run "

func eachFile(dir string, do func(name string, text []byte) error) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return do(name, text)
	})
}
