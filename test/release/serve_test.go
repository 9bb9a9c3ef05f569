// SPDX-License-Identifier: Apache-2.0

package release

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

const (
	root     = "../.."
	rootPath = "github.com/informer-gen/informer-gen"
)

var temporary string // removed by TestMain

func TestMain(m *testing.M) {
	var err error
	if temporary, err = os.MkdirTemp("", "release"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(temporary)
	os.Exit(code)
}

// release has the modules of the next tags.
type release struct {
	version string
	modules []string // their paths
	env     []string // of go commands that get the modules as users do
}

// errOffline is publish's error if the module proxy can't be reached.
var errOffline = errors.New("dependencies can't be downloaded")

var publishOnce = sync.OnceValues(publish)

// published returns the release, shared by all tests. Without a network it skips the test.
func published(t *testing.T) release {
	t.Helper()
	r, err := publishOnce()
	switch {
	case errors.Is(err, errOffline):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return r
}

// publish makes a folder of the modules, laid out as a module proxy, from the checked out commit
// and the uncommitted changes of its files.
func publish() (r release, err error) {
	tagged, err := command(root, nil, ".ci/tag", "--modules")
	if err != nil {
		return r, err
	}
	folders := strings.Fields(tagged)
	if r.version, err = versionOf(folders); err != nil {
		return r, err
	}
	commit, err := workTree()
	if err != nil {
		return r, err
	}
	// Package zip doesn't support git worktrees.
	repository, proxy := filepath.Join(temporary, "repository"), filepath.Join(temporary, "proxy")
	if _, err := command(root, nil, "git", "clone", "-q", "--shared", "--no-checkout", ".", repository); err != nil {
		return r, err
	}
	for _, folder := range folders {
		r.modules = append(r.modules, path.Join(rootPath, folder))
		if err := publishModule(proxy, repository, commit, folder, r.version); err != nil {
			return r, fmt.Errorf("publishing module %s of commit %s: %w", folder, commit, err)
		}
	}

	// The user's module cache keeps the dependencies for the next run. Our modules change without
	// a new version, so their module cache ends with the run.
	projects, err := filepath.Glob("testdata/*/go.mod")
	if err != nil {
		return r, err
	}
	for _, folder := range folders {
		projects = append(projects, filepath.Join(root, folder, "go.mod"))
	}
	for _, mod := range projects {
		if _, err := command(filepath.Dir(mod), append(os.Environ(), "GOWORK=off"), "go", "mod", "download"); err != nil {
			return r, fmt.Errorf("%w: %w", errOffline, err)
		}
	}
	usual := func(name string) string {
		value, e := command(root, nil, "go", "env", name)
		err = errors.Join(err, e)
		return strings.TrimSpace(value)
	}
	r.env = append(os.Environ(), "GOWORK=off",
		"GOMODCACHE="+filepath.Join(temporary, "modules"),
		fmt.Sprintf("GOPROXY=file://%s,file://%s/cache/download,%s", proxy, usual("GOMODCACHE"), usual("GOPROXY")),
		"GONOSUMDB="+rootPath,
		// With -trimpath, the build cache keeps the packages of the last run, which had another
		// module cache. "go tool" ignores the flag, and compiles the generator again.
		"GOFLAGS="+usual("GOFLAGS")+" -trimpath -modcacherw",
		// With a list of private modules, the go command looks for all others in the module cache
		// first. If only the root module is there, it then misses nested modules of that version.
		"GOPRIVATE=", "GONOPROXY=", "GOENV=off",
	)
	for _, name := range []string{"GOCACHE", "GOSUMDB", "GOTOOLCHAIN"} {
		r.env = append(r.env, name+"="+usual(name))
	}
	return r, err
}

// workTree returns a commit of all tracked files in their present state.
func workTree() (commit string, err error) {
	commit, err = command(root, gitEnv, "git", "stash", "create")
	if commit == "" && err == nil {
		commit, err = command(root, gitEnv, "git", "rev-parse", "HEAD")
	}
	return strings.TrimSpace(commit), err
}

// publishModule adds the module in a folder of a repository's commit to a module proxy.
func publishModule(proxy, repository, commit, folder, version string) error {
	if folder == "." {
		folder = ""
	}
	mod, err := command(repository, nil, "git", "show", commit+":"+path.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	modulePath := path.Join(rootPath, folder)
	versions := filepath.Join(proxy, modulePath, "@v")
	if err := os.MkdirAll(versions, 0o777); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version": %q}`, version),
		version + ".mod":  mod,
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(content), 0o666); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		return err
	}
	err = zip.CreateFromVCS(file, module.Version{Path: modulePath, Version: version}, repository, commit, folder)
	return errors.Join(err, file.Close())
}

// versionOf returns the version at which the modules in folders require each other.
func versionOf(folders []string) (version string, err error) {
	for _, folder := range folders {
		mod, err := parseMod(filepath.Join(root, folder))
		if err != nil {
			return "", err
		}
		for _, r := range mod.Require {
			required := r.Mod
			if required.Path != rootPath && !strings.HasPrefix(required.Path, rootPath+"/") {
				continue
			}
			if !semver.IsValid(required.Version) || module.IsPseudoVersion(required.Version) || version != "" && version != required.Version {
				return "", fmt.Errorf("%s/go.mod requires %v, which will not be published: all modules must require the version "+
					"that will be tagged next; \".ci/tag --next v…\" writes it into all of them", folder, required)
			}
			version = required.Version
		}
	}
	if version == "" {
		return "", fmt.Errorf("none of the modules in %v requires another one", folders)
	}
	return version, nil
}

// parseMod reads the go.mod of a folder.
func parseMod(folder string) (*modfile.File, error) {
	name := filepath.Join(folder, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, content, nil)
}

// command runs a command in a folder and returns its output. Standard error goes into err.
func command(folder string, env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = folder
	c.Env = env
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%v in %s: %w\n%s%s", c, folder, err, out, stderr.String())
	}
	return string(out), err
}
