// SPDX-License-Identifier: Apache-2.0

package buildcache

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

	"github.com/informer-gen/informer-gen/generator"
)

// identity is everything that a run depends on apart from files of the user, as far as it can be
// told without running the go command. ok is false if it can't.
func identity(cfg generator.Config) (parts []string, ok bool) {
	dir, err := cfg.RealDir()
	if err != nil {
		return nil, false
	}
	settings := cfg
	settings.Dir, settings.Env, settings.Warn, settings.Progress, settings.Verbose = dir, nil, nil, nil, false
	text, err := json.Marshal(struct {
		generator.Config
		Env, Warn, Progress *int // functions have no JSON
	}{Config: settings})
	if err != nil {
		return nil, false
	}
	env, ok := goEnvironment(cfg)
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
func goEnvironment(cfg generator.Config) (parts []string, ok bool) {
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
