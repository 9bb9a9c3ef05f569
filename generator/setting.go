// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// setting is a value of the call or of the configuration file.
type setting struct {
	text string
	// dir is the folder that the value is relative to if it is the name of a file.
	dir string
	// key and pos are where it stands in the configuration file. A position that isn't valid is
	// that of the call.
	key string
	pos token.Position
}

// isSet reports whether there is a value.
func (s setting) isSet() bool { return s.text != "" }

// path returns the value as the absolute name of a file; "" if there is no value.
func (s setting) path() string {
	if !s.isSet() || filepath.IsAbs(s.text) {
		return s.text
	}
	return filepath.Join(s.dir, filepath.FromSlash(s.text))
}

// wrong returns an error about the value, as a finding.
func (s setting) wrong(message string) diag.Diagnostic {
	d := diag.Diagnostic{Pos: s.pos, Message: message}
	if s.pos.IsValid() {
		d.Marker = s.key
	}
	return d
}

// checkFolder adds a finding if the value is an input of the configuration file that names a folder
// which doesn't exist. The go command finds what else is wrong with inputs.
func (s setting) checkFolder(report *diag.List) {
	if !s.pos.IsValid() || !strings.HasPrefix(s.text, "./") && !strings.HasPrefix(s.text, "../") {
		return
	}
	folder, _, dots := strings.Cut(s.text, "...")
	if dots {
		folder = folder[:strings.LastIndexByte(folder, '/')+1]
	}
	switch info, err := os.Stat(setting{text: folder, dir: s.dir}.path()); {
	case err != nil:
		report.Add(s.wrong("there is no folder " + strings.TrimSuffix(folder, "/")))
	case !info.IsDir():
		report.Add(s.wrong(folder + " is a file: name the folder that it lies in"))
	}
}

// texts returns the values without where they stand.
func texts(all []setting) []string {
	var list []string
	for _, s := range all {
		list = append(list, s.text)
	}
	return list
}
