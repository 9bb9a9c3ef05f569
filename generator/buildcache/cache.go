// SPDX-License-Identifier: Apache-2.0

// Package buildcache knows whether a run of the generator would change anything, from what the
// user's cache folder has about earlier runs. It goes by contents, not by times: of the program,
// the configuration, the environment, modules, packages, and of the output. Packages in the module
// cache are taken to be what go.sum says.
//
//	cache := buildcache.Open(cfg)
//	if cache.UpToDate() {
//		return
//	}
//	files, err := generator.Generate(ctx, cache.Config())
//	…
//	_, err = files.Write()
//	…
//	cache.Keep(files)
package buildcache

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/generator/buildcache/internal/record"
	"github.com/informer-gen/informer-gen/generator/diag"
)

// Cache has what is recorded of runs with one Config. Where nothing can be recorded, for example
// because there is no cache folder, UpToDate returns false.
//
// Warnings about packages of other modules, which one can't change, are passed on once: a run whose
// record has them doesn't show them again, unless Config.Verbose is set.
type Cache struct {
	cfg generator.Config
	run *record.Run // nil if nothing can be recorded
}

// Open looks for what is recorded of runs with cfg. It must be called before Generate.
func Open(cfg generator.Config) *Cache {
	c := &Cache{cfg: cfg}
	folder, err := cacheFolder()
	if err != nil {
		return c
	}
	if parts, ok := identity(cfg); ok {
		c.run = record.Begin(folder, parts...)
	}
	return c
}

// UpToDate reports whether Generate and Write would change nothing. If so, it calls Config.Warn for
// what they would have warned about. It runs no other program.
func (c *Cache) UpToDate() bool {
	if c.run == nil {
		return false
	}
	note, ok := c.run.Unchanged()
	if ok {
		var warnings []warning
		if ok = json.Unmarshal(note, &warnings) == nil; ok && c.cfg.Warn != nil {
			for _, w := range warnings {
				if c.cfg.Verbose || !w.Foreign {
					c.cfg.Warn(diag.Diagnostic(w))
				}
			}
		}
	}
	if !ok {
		c.run.Watch(early(c.cfg)...)
	}
	return ok
}

// Config is what to call [generator.Generate] with: the Config that the Cache was opened with,
// without the warnings that have been shown.
func (c *Cache) Config() generator.Config {
	cfg := c.cfg
	var shown []warning
	if c.run == nil || cfg.Warn == nil || cfg.Verbose || json.Unmarshal(c.run.Note(), &shown) != nil {
		return cfg
	}
	cfg.Warn = func(d diag.Diagnostic) {
		known := slices.ContainsFunc(shown, func(w warning) bool { return diag.Diagnostic(w).String() == d.String() })
		if !d.Foreign || !known {
			c.cfg.Warn(d)
		}
	}
	return cfg
}

// Keep records the run that files came from, once they have been written. What can't be recorded
// isn't: then the next run does all of its work. A run that has generated nothing isn't recorded,
// because the next one may have to say so.
func (c *Cache) Keep(files generator.Files) {
	if c.run == nil || files.Inputs.Dir == "" || len(files.Files) == 0 {
		return
	}
	warnings := make([]warning, 0, len(files.Inputs.Warnings))
	for _, w := range files.Inputs.Warnings {
		warnings = append(warnings, warning(w))
	}
	if note, err := json.Marshal(warnings); err == nil {
		_ = c.run.Save(fileSets(files), note) // the files are written, which is what counts
	}
}

// warning is a finding as it is recorded, with all of its fields.
type warning diag.Diagnostic

// cacheFolder is where the user's runs keep their records. It need not exist.
func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "informer-gen"), err
}
