// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// setting is a value from Config or the configuration file.
type setting struct {
	text string
	// dir is the base if text is a relative file name.
	dir string
	// key and pos are the place in the configuration file; pos isn't valid for a value from Config.
	key string
	pos token.Position
}

func (s setting) isSet() bool { return s.text != "" }

// path returns the value as an absolute file name; "" if it isn't set.
func (s setting) path() string {
	if !s.isSet() || filepath.IsAbs(s.text) {
		return s.text
	}
	return filepath.Join(s.dir, filepath.FromSlash(s.text))
}

func (s setting) finding(message string) diag.Diagnostic {
	d := diag.Diagnostic{Pos: s.pos, Message: message}
	if s.pos.IsValid() {
		d.Marker = s.key
	}
	return d
}

// checkFolder adds a finding if an input of the configuration file names a missing folder. The go
// command reports other errors in inputs.
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
		report.Add(s.finding("there is no folder " + strings.TrimSuffix(folder, "/")))
	case !info.IsDir():
		report.Add(s.finding(folder + " is a file: name the folder it is in"))
	}
}

func texts(all []setting) []string {
	var list []string
	for _, s := range all {
		list = append(list, s.text)
	}
	return list
}
