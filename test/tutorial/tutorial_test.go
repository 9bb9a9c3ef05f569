// SPDX-License-Identifier: Apache-2.0

// Package tutorial follows docs/tutorial.md, as a reader does.
package tutorial

import (
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/internal/projecttest"
	"github.com/informer-gen/informer-gen/test/internal/address"
)

const (
	root    = "../.."
	module  = "github.com/informer-gen/informer-gen"
	example = root + "/examples/tutorial"
	license = "// SPDX-License-Identifier: Apache-2.0\n\n"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the files of docs/tutorial.md to examples/tutorial")

// TestFiles compares the files of the page with those of examples/tutorial.
func TestFiles(t *testing.T) {
	for _, b := range pageBlocks(t) {
		if b.file == "" {
			continue
		}
		name, want := filepath.Join(example, b.file), moved(t, b.file, b.text)
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Errorf("docs/tutorial.md:%d: this %s (-) is not that of examples/tutorial (+); go test ./test/tutorial -run TestFiles -update writes it:\n%s",
				b.line, b.file, diff)
		}
	}
}

// moved returns a file of the page as it is in the example: with another path of the module, hence
// another order of imports, and with the licence.
func moved(t *testing.T, name, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, "example.com/tutorial/", module+"/examples/tutorial/")
	if path.Ext(name) != ".go" {
		return text
	}
	formatted, err := format.Source([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if strings.Contains(text, "// Code generated ") {
		return string(formatted)
	}
	return license + string(formatted)
}

// TestTutorial writes the files of the page and runs its commands, in their order. The result is
// examples/tutorial. Only three things differ from a reader's project: our modules are the
// checkout's, the manager listens at a free port, and clients stand for kubectl and curl.
func TestTutorial(t *testing.T) {
	steps := pageBlocks(t)
	p := newProject(t)
	for _, step := range steps {
		if step.file != "" {
			p.write(step)
			continue
		}
		for command := range strings.Lines(step.text) {
			p.do(step.line, strings.TrimSuffix(command, "\n"))
			step.line++
		}
	}
	p.program.end(t)
	for command := range p.standIns {
		t.Errorf("docs/tutorial.md lacks the command %s", command)
	}
	p.compare()
}

func pageBlocks(t *testing.T) []block {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := blocks(string(page))
	if err != nil {
		t.Fatalf("docs/tutorial.md: %v", err)
	}
	return found
}

// project is the reader's folder.
type project struct {
	t        *testing.T
	dir      string
	address  string // of the program, instead of localhost:8080
	http     *http.Client
	env      []string          // of commands
	standIns map[string]func() // of commands that the go command doesn't run, until these are run
	program  *program          // nil until it is started
}

func newProject(t *testing.T) *project {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	p := &project{t: t, dir: filepath.Join(t.TempDir(), "tutorial"), address: address.Reserve(t), http: &http.Client{Transport: transport}}
	p.env = append(os.Environ(), "GOWORK=off", "GOPROXY=file://"+moduleProxy(t)+","+usualProxy(t))
	p.standIns = p.clients()
	p.standIns["mkdir tutorial && cd tutorial"] = func() {
		if err := os.Mkdir(p.dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// ours are the folders of the modules that the page gets.
var ours = []string{"", "/devserver"}

// moduleProxy returns the folder of a module proxy with a version of our modules, because the go
// command looks for one although the module is replaced.
func moduleProxy(t *testing.T) string {
	t.Helper()
	proxy := t.TempDir()
	for _, folder := range ours {
		versions := filepath.Join(proxy, module+folder, "@v")
		if err := os.MkdirAll(versions, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(versions, "list"), []byte("v0.1.0\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return proxy
}

func usualProxy(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatalf("go env GOPROXY: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func (p *project) write(b block) {
	p.t.Helper()
	name := filepath.Join(p.dir, b.file)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		p.t.Fatal(err)
	}
	text := strings.ReplaceAll(b.text, "localhost:8080", p.address)
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		p.t.Fatal(err)
	}
}

// do runs a command of the page.
func (p *project) do(line int, command string) {
	p.t.Helper()
	p.t.Logf("docs/tutorial.md:%d: %s", line, command)
	if standIn := p.standIns[command]; standIn != nil {
		standIn()
		delete(p.standIns, command)
		return
	}
	if strings.HasPrefix(command, "go tool devserver ") {
		p.program = start(p.t, p.command(command))
		return
	}
	p.run(command)
	if strings.HasPrefix(command, "go mod init ") {
		for _, folder := range ours {
			checkout, err := filepath.Abs(root + folder)
			if err != nil {
				p.t.Fatal(err)
			}
			p.run("go mod edit -replace=" + module + folder + "=" + checkout)
		}
	}
}

func (p *project) command(command string) *exec.Cmd {
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

func (p *project) run(command string) {
	p.t.Helper()
	out, err := p.command(command).CombinedOutput()
	if err == nil {
		return
	}
	if offline := projecttest.Offline(); offline != nil {
		p.t.Skipf("%s may need modules that can't be downloaded: %v\n%s: %v", command, offline, out, err)
	}
	p.t.Fatalf("%s: %v\n%s", command, err, out)
}

// compare compares all files with those of the example.
func (p *project) compare() {
	p.t.Helper()
	want, got := files(p.t, example), files(p.t, p.dir)
	// The example is in a larger module. The others are made by go build and devserver.
	for _, name := range []string{"go.mod", "go.sum", "tutorial", "kubeconfig"} {
		if _, ok := got[name]; !ok {
			p.t.Errorf("the project lacks %s", name)
		}
		delete(got, name)
	}
	for name, text := range got {
		if other, ok := want[name]; !ok {
			p.t.Errorf("examples/tutorial lacks %s, which a command of docs/tutorial.md makes", name)
		} else if diff := cmp.Diff(other, moved(p.t, name, strings.ReplaceAll(text, p.address, "localhost:8080"))); diff != "" {
			p.t.Errorf("%s of examples/tutorial (-) is not what the commands make (+):\n%s", name, diff)
		}
		delete(want, name)
	}
	for name := range want {
		p.t.Errorf("docs/tutorial.md doesn't make %s of examples/tutorial", name)
	}
}

// files returns the contents of all files in a folder, by their paths.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("read the files of %s: %w", folder, err))
	}
	return found
}
