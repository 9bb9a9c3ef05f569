// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator/config"
	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/load"
	"github.com/informer-gen/informer-gen/generator/memo"
	"github.com/informer-gen/informer-gen/generator/output"
)

// Memory knows whether a run would change anything, from what it remembers of earlier runs in the
// user's cache folder. It goes by contents, not by times: of the program, the configuration, the
// environment, modules, packages, and of the output. Packages in the module cache are taken to be
// what go.sum says.
//
//	memory := generator.OpenMemory(cfg)
//	if memory.UpToDate() {
//		return
//	}
//	files, err := generator.Generate(ctx, memory.Config())
//	…
//	_, err = files.Write()
//	…
//	memory.Keep(files)
//
// Where nothing can be remembered, for example because there is no cache folder, UpToDate returns
// false.
//
// Warnings about packages of other modules, which one can't change, are passed on once: a run whose
// record has them doesn't show them again, unless Config.Verbose is set.
type Memory struct {
	cfg Config
	run *memo.Run // nil if nothing can be remembered
}

// OpenMemory looks for what is remembered of runs with cfg. It must be called before Generate.
func OpenMemory(cfg Config) *Memory {
	m := &Memory{cfg: cfg}
	folder, err := cacheFolder()
	if err != nil {
		return m
	}
	if parts, ok := cfg.identity(); ok {
		m.run = memo.Begin(folder, parts...)
	}
	return m
}

// UpToDate reports whether Generate and Write would change nothing. If so, it calls Config.Warn for
// what they would have warned about. It runs no other program.
func (m *Memory) UpToDate() bool {
	if m.run == nil {
		return false
	}
	note, ok := m.run.Unchanged()
	if ok {
		var warnings []warning
		if ok = json.Unmarshal(note, &warnings) == nil; ok && m.cfg.Warn != nil {
			for _, w := range warnings {
				if m.cfg.Verbose || !w.Foreign {
					m.cfg.Warn(diag.Diagnostic(w))
				}
			}
		}
	}
	if !ok {
		m.run.Watch(m.cfg.early()...)
	}
	return ok
}

// Config is what to call Generate with: the Config that the Memory was opened with, without the
// warnings that have been shown.
func (m *Memory) Config() Config {
	cfg := m.cfg
	var shown []warning
	if m.run == nil || cfg.Warn == nil || cfg.Verbose || json.Unmarshal(m.run.Note(), &shown) != nil {
		return cfg
	}
	cfg.Warn = func(d diag.Diagnostic) {
		known := slices.ContainsFunc(shown, func(w warning) bool { return diag.Diagnostic(w).String() == d.String() })
		if !d.Foreign || !known {
			m.cfg.Warn(d)
		}
	}
	return cfg
}

// Keep remembers the run that files came from, once they have been written. What can't be
// remembered isn't: then the next run does all of its work. A run that has generated nothing isn't
// remembered, because the next one may have to say so.
func (m *Memory) Keep(files Files) {
	if m.run == nil || files.read == nil || len(files.Files) == 0 {
		return
	}
	warnings := make([]warning, 0, len(files.read.warnings))
	for _, w := range files.read.warnings {
		warnings = append(warnings, warning(w))
	}
	if note, err := json.Marshal(warnings); err == nil {
		_ = m.run.Remember(files.places(), note) // the files are written, which is what counts
	}
}

// cacheFolder is where the user's runs keep what they share. It need not exist.
func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "informer-gen"), err
}

// --- private from here ---

// warning is a finding as it is remembered, with all of its fields.
type warning diag.Diagnostic

// read is what a run of Generate has depended on.
type read struct {
	dir     string // Config.Dir, absolute and without links
	sources load.Sources
	// named are the files and folders that the configuration names, and the file with it.
	named    []string
	warnings diag.List
}

// identity is everything that a run depends on apart from files of the user, as far as it can be
// told without running the go command. ok is false if it can't.
func (cfg Config) identity() (parts []string, ok bool) {
	dir, err := realDir(cfg.Dir)
	if err != nil {
		return nil, false
	}
	settings := cfg
	settings.Dir, settings.Env, settings.Warn, settings.Progress, settings.Verbose = dir, nil, nil, nil, false
	text, err := json.Marshal(struct {
		Config
		Env, Warn, Progress *int // functions have no JSON
	}{Config: settings})
	if err != nil {
		return nil, false
	}
	env, ok := cfg.goEnvironment()
	if !ok {
		return nil, false
	}
	self, err := os.Executable()
	if err != nil {
		return nil, false
	}
	program, err := contentOf(self)
	if err != nil {
		return nil, false
	}
	return append([]string{runtime.GOOS, runtime.GOARCH, program, string(text)}, env...), true
}

// goEnvironment is what the go command's answers depend on. ok is false if they depend on more than
// can be told.
func (cfg Config) goEnvironment() (parts []string, ok bool) {
	if _, err := exec.LookPath("gopackagesdriver"); err == nil {
		return nil, false // it stands in for the go command
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, false
	}
	if tool, err = filepath.EvalSymlinks(tool); err != nil {
		return nil, false
	}
	info, err := os.Stat(tool)
	if err != nil {
		return nil, false
	}
	parts = append(parts, tool, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))

	env := cfg.Env
	if env == nil {
		env = os.Environ()
	}
	values := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	for name, value := range values {
		if strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") || name == "HOME" || name == "XDG_CONFIG_HOME" {
			parts = append(parts, name+"="+value)
		}
	}
	slices.Sort(parts[2:])

	defaults := values["GOENV"]
	if defaults == "" {
		if folder, err := os.UserConfigDir(); err == nil {
			defaults = filepath.Join(folder, "go", "env")
		}
	}
	for _, name := range []string{defaults, filepath.Join(filepath.Dir(filepath.Dir(tool)), "go.env")} {
		content, _ := os.ReadFile(name) // most people have none
		if bytes.Contains(content, []byte("GOWORK=")) {
			return nil, false // the go command uses another go.work than the one that load knows of
		}
		parts = append(parts, string(content))
	}
	for _, part := range parts {
		// Files that these name would have to be looked at, too.
		if strings.Contains(part, "-modfile") || strings.Contains(part, "-overlay") || strings.HasPrefix(part, "GOPACKAGESDRIVER=") && part != "GOPACKAGESDRIVER=off" {
			return nil, false
		}
	}
	return parts, true
}

func contentOf(name string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

// early are places that a run with cfg depends on in any case.
func (cfg Config) early() []memo.Place {
	dir, err := realDir(cfg.Dir)
	if err != nil {
		return nil
	}
	var places []memo.Place
	for _, up := range append(upwards(dir), upwards(setting{text: cfg.Output, dir: dir}.path())...) {
		for _, name := range []string{config.FileName, "go.mod", "go.sum", "go.work", "go.work.sum"} {
			places = append(places, memo.Place{Kind: memo.File, Path: filepath.Join(up, name)})
		}
	}
	return places
}

// upwards are dir and the folders above it; none if dir is empty.
func upwards(dir string) []string {
	var dirs []string
	for dir != "" {
		dirs = append(dirs, dir)
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return dirs
}

// places are all that the run has depended on and what it has written.
func (f Files) places() []memo.Place {
	var places []memo.Place
	files := slices.Clone(f.read.sources.Files)
	for _, up := range upwards(f.Root) { // its module
		files = append(files, filepath.Join(up, "go.mod"))
	}
	for _, name := range f.read.named {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			places = append(places, memo.Place{Kind: memo.Below, Path: name, Endings: crdEndings})
		} else {
			files = append(files, name)
		}
	}
	for _, up := range upwards(f.read.dir) {
		files = append(files, filepath.Join(up, config.FileName))
	}
	slices.Sort(files)
	for _, name := range slices.Compact(files) {
		places = append(places, memo.Place{Kind: memo.File, Path: name})
		// that there is a vendor folder counts, too
		if folder, base := filepath.Split(name); base == "modules.txt" {
			places = append(places, memo.Place{Kind: memo.Folder, Path: filepath.Dir(filepath.Clean(folder)), Endings: []string{"vendor"}})
		}
	}

	root := f.Root
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	places = append(places, f.outputs(root)...)
	for dir, contents := range f.read.sources.Folders {
		if dir != root {
			places = append(places, memo.Place{Kind: memo.Package, Path: dir, Seen: sums(contents)})
		}
	}
	except := []string{root}
	for _, folder := range output.Subfolders() {
		except = append(except, filepath.Join(root, folder), filepath.Join(root, folder)+"/...")
	}
	for _, tree := range f.read.sources.Trees {
		seen := map[string]memo.Sum{}
		for dir, contents := range f.read.sources.Folders {
			if rel, err := filepath.Rel(tree, dir); err == nil {
				for name, sum := range contents {
					seen[filepath.ToSlash(filepath.Join(rel, name))] = sum
				}
			}
		}
		places = append(places, memo.Place{Kind: memo.Tree, Path: tree, Seen: seen, Except: except})
	}
	return places
}

// outputs are the places that Write has written to.
func (f Files) outputs(root string) []memo.Place {
	top := memo.Place{Kind: memo.Folder, Path: root, Endings: []string{".go"}, Written: true, Seen: map[string]memo.Sum{}}
	places := []memo.Place{top}
	for _, folder := range output.Subfolders() {
		places = append(places, memo.Place{Kind: memo.Below, Path: filepath.Join(root, folder), Written: true, Seen: map[string]memo.Sum{}})
	}
	for _, file := range f.Files {
		sum := memo.Sum(sha256.Sum256(bytes.ReplaceAll(file.Content, []byte("\r\n"), []byte("\n"))))
		folder, rest, nested := strings.Cut(file.Path, "/")
		if !nested {
			top.Seen[file.Path] = sum
			continue
		}
		places[1+slices.Index(output.Subfolders(), folder)].Seen[rest] = sum
	}
	return places
}

func sums(contents map[string][sha256.Size]byte) map[string]memo.Sum {
	all := make(map[string]memo.Sum, len(contents))
	for name, sum := range contents {
		all[name] = sum
	}
	return all
}
