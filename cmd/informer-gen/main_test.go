// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/goproxytest"
	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/informer-gen/informer-gen/internal/projecttest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var update = flag.Bool("update", false, "rewrite the expectations in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"informer-gen": main})
}

// TestScript runs the program as its users do. Besides testscript's own, the scripts have these
// commands, and the condition online: the go command can download modules.
//
//	stub FILE…        adds projecttest's small k8s.io/apimachinery to a go.mod
//	requires FILE…    adds the libraries of this test to a go.mod, and their sums to its go.sum
//	imports FILE…     the same, and this module, from the checkout in $CHECKOUT
//	exits CODE ARG…   runs informer-gen and expects the exit code
//	cluster FILE      starts an API server with one Widget, and writes its kubeconfig
//	snapshot NAME     records names, contents and times of all files
//	unchanged NAME    fails if any of these has changed
func TestScript(t *testing.T) {
	libraries := projecttest.Of(t)
	env, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.Split(strings.TrimSpace(string(env)), "\n")
	cache := t.TempDir() // of the go command, out of the way of snapshots
	apimachinery := projecttest.Apimachinery(t, t.TempDir())
	proxy, err := goproxytest.NewServer("testdata/modules", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close) // once the scripts, which are parallel subtests, have ended
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name != "online" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return projecttest.Offline() == nil, nil
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOMODCACHE", settings[0])
			env.Setenv("GOCACHE", settings[1])
			env.Setenv("GOPROXY", "off") // scripts that need more modules set another one
			env.Setenv("USUAL_GOPROXY", settings[2])
			env.Setenv("MODULES", proxy.URL) // a GOPROXY with testdata/modules
			env.Setenv("GOSUMDB", settings[3])
			env.Setenv("GOFLAGS", "")
			env.Setenv("GOWORK", "off")
			env.Setenv("CHECKOUT", libraries.Root)
			// fewer collections in many short runs
			env.Setenv("GOGC", "400")
			for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} { // by system
				env.Setenv(name, cache)
			}
			// for each of the parallel scripts
			env.Values["snapshots"] = map[string]map[string]string{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"stub": func(ts *testscript.TestScript, _ bool, files []string) {
				for _, file := range files {
					ts.Check(add(ts.MkAbs(file), apimachinery))
				}
			},
			"requires": func(ts *testscript.TestScript, _ bool, files []string) {
				for _, file := range files {
					ts.Check(add(ts.MkAbs(file), libraries.Require))
					ts.Check(add(filepath.Join(filepath.Dir(ts.MkAbs(file)), "go.sum"), libraries.Sums))
				}
			},
			"imports": func(ts *testscript.TestScript, _ bool, files []string) {
				for _, file := range files {
					ts.Check(add(ts.MkAbs(file), libraries.RequireItself()))
					ts.Check(add(filepath.Join(filepath.Dir(ts.MkAbs(file)), "go.sum"), libraries.Sums))
				}
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				err := ts.Exec("informer-gen", args[1:]...)
				code := "0"
				if err != nil {
					// The error says "exit status 2".
					_, code, _ = strings.Cut(err.Error(), "exit status ")
				}
				if code != args[0] {
					ts.Fatalf("informer-gen %s: exit code %s, want %s (%v)", strings.Join(args[1:], " "), code, args[0], err)
				}
			},
			"cluster": func(ts *testscript.TestScript, _ bool, files []string) {
				server := sourcetest.New()
				resource := schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "widgets"}
				sourcetest.Serve[*unstructured.Unstructured](server, resource, "Widget").Create(&unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "shop.example.com/v1", "kind": "Widget",
					"metadata": map[string]any{"namespace": "shop", "name": "blue"},
					"spec":     map[string]any{"nodeName": "node-7"},
				}})
				listener := httptest.NewServer(server)
				ts.Defer(listener.Close)
				config := clientcmdapi.NewConfig()
				config.Clusters["c"] = &clientcmdapi.Cluster{Server: listener.URL}
				config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
				config.CurrentContext = "c"
				ts.Check(clientcmd.WriteToFile(*config, ts.MkAbs(files[0])))
			},
			"snapshot": func(ts *testscript.TestScript, _ bool, args []string) {
				snapshots(ts)[args[0]] = snapshot(ts)
			},
			"unchanged": func(ts *testscript.TestScript, _ bool, args []string) {
				before, after := snapshots(ts)[args[0]], snapshot(ts)
				if before == nil {
					ts.Fatalf("there is no snapshot %s", args[0])
				}
				for name, was := range before {
					if is, ok := after[name]; !ok {
						ts.Fatalf("%s is gone", name)
					} else if is != was {
						ts.Fatalf("%s was written", name)
					}
				}
				for name := range after {
					if _, ok := before[name]; !ok {
						ts.Fatalf("%s is new", name)
					}
				}
			},
		},
	})
}

// add appends text to a file.
func add(name, text string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// snapshots returns the script's snapshots by name.
func snapshots(ts *testscript.TestScript) map[string]map[string]string {
	return ts.Value("snapshots").(map[string]map[string]string)
}

// snapshot returns modification times and contents of all files by name.
func snapshot(ts *testscript.TestScript) map[string]string {
	files := map[string]string{}
	work := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(work, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		files[name] = info.ModTime().String() + string(content)
		return err
	}))
	return files
}
