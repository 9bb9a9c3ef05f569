// SPDX-License-Identifier: Apache-2.0

package release

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitEnv is the environment of git commands, without the user's configuration.
var gitEnv = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull,
	"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test")

// checkout is a repository to change and to tag.
type checkout struct {
	t   *testing.T
	dir string
}

func (c checkout) run(name string, args ...string) string {
	c.t.Helper()
	out, err := command(c.dir, gitEnv, name, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// fails runs a command, which must fail with want in its output.
func (c checkout) fails(want, name string, args ...string) {
	c.t.Helper()
	_, err := command(c.dir, gitEnv, name, args...)
	if err == nil || !strings.Contains(err.Error(), want) {
		c.t.Errorf("%s %v: got error %v, want one with %q", name, args, err, want)
	}
}

// TestTag prepares a version in a clone of the repository, tags it, and begins the next one.
func TestTag(t *testing.T) {
	commit, err := workTree()
	if err != nil {
		t.Fatal(err)
	}
	c := checkout{t, t.TempDir()}
	c.run("git", "init", "-q")
	if _, err := command(root, gitEnv, "git", "push", "-q", c.dir, commit+":refs/heads/test"); err != nil {
		t.Fatal(err)
	}
	c.run("git", "checkout", "-q", "test")

	c.run(".ci/tag", "--next", "v0.98.0")
	c.fails("commit them first", ".ci/tag", "v0.98.0")
	c.run("git", "commit", "-qam", "version")
	c.run("go", "mod", "edit", "-require="+rootPath+"@v0.97.0", "adapter/etcd/go.mod")
	c.run("git", "commit", "-qam", "old requirement")
	c.fails("adapter/etcd/go.mod requires "+rootPath+" v0.97.0", ".ci/tag", "v0.98.0")
	c.run("git", "reset", "-q", "--hard", "HEAD^")
	c.fails(`no entry "## v0.98.1"`, ".ci/tag", "v0.98.1")
	c.run(".ci/tag", "v0.98.0")
	want := []string{"adapter/controllerruntime/v0.98.0", "adapter/etcd/v0.98.0", "devserver/v0.98.0", "v0.98.0"}
	if tags := strings.Fields(c.run("git", "tag", "--points-at", "HEAD")); !slices.Equal(tags, want) {
		t.Errorf("the tags are %v, want %v", tags, want)
	}
	c.fails("the tag adapter/controllerruntime/v0.98.0 exists", ".ci/tag", "v0.98.0")

	// A tagged version keeps its entry in the changelog. The entry of another version is renamed.
	c.run(".ci/tag", "--next", "v0.98.1")
	c.run(".ci/tag", "--next", "v0.99.0")
	if developed := c.run(".ci/tag", "--developed"); developed != "v0.99.0\n" {
		t.Errorf("the version under development is %q, want v0.99.0", developed)
	}
	headings := strings.Fields(c.run("sed", "-n", "s/^## //p", "CHANGELOG.md"))
	if !slices.Equal(headings[:2], []string{"v0.99.0", "v0.98.0"}) {
		t.Errorf("CHANGELOG.md begins with entries for %v, want v0.99.0 and v0.98.0", headings[:2])
	}
}

// TestAPIDiff removes a function of a tagged version.
func TestAPIDiff(t *testing.T) {
	published(t) // skips the test without a network
	c := checkout{t, t.TempDir()}
	if err := os.CopyFS(filepath.Join(c.dir, ".ci"), os.DirFS(filepath.Join(root, ".ci"))); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"CHANGELOG.md":         "# Changelog\n\n## v0.1.0\n",
		"go.mod":               "module " + rootPath + "\n\ngo 1.26.0\n",
		"api.go":               "package api\n\nfunc Kept() {}\n\nfunc Removed() {}\n",
		"adapter/etcd/etcd.go": "package etcd\n\nimport _ \"" + rootPath + "\"\n",
		"adapter/etcd/go.mod":  "module " + rootPath + "/adapter/etcd\n\ngo 1.26.0\n\nrequire " + rootPath + " v0.1.0\n\nreplace " + rootPath + " => ../..\n",
	} {
		name = filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c.run("git", "init", "-q")
	c.run("git", "add", ".")
	c.run("git", "commit", "-qm", "first")
	c.run(".ci/apidiff")
	c.run(".ci/tag", "v0.1.0")
	c.run(".ci/apidiff")

	if err := os.WriteFile(filepath.Join(c.dir, "api.go"), []byte("package api\n\nfunc Kept() {}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c.run(".ci/tag", "--next", "v0.1.1")
	c.fails("Removed: removed", ".ci/apidiff")
	c.run(".ci/tag", "--next", "v0.2.0")
	c.run(".ci/apidiff")
}
