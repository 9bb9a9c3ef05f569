// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-gen/informer-gen/devserver/control"
)

// TestMain lets the test binary be the command when it is started with this in its environment, and
// what a command runs.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asChildOf {
		os.Exit(child(os.Args[2]))
	}
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const asCommand = "DEVSERVER_TEST_AS_COMMAND"

// patience bounds the wait for an event that comes soon.
const patience = 3 * time.Minute

func asChild(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stderr = t.Output()
	return cmd
}

func controlled(t *testing.T, args ...string) *control.Process {
	t.Helper()
	child, err := control.Start(t.Context(), asChild(t, append(args, "--control")...))
	if err != nil {
		t.Fatal(err)
	}
	endWithTest(t, child)
	return child
}

func endWithTest(t *testing.T, child *control.Process) {
	t.Cleanup(func() {
		if err := child.Quit(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// again starts a server in the place of one that has ended. Another process may have got the port
// for a moment.
func again(t *testing.T, args ...string) *control.Process {
	t.Helper()
	for began := time.Now(); ; {
		child, err := control.Start(t.Context(), asChild(t, append(args, "--control")...))
		if err == nil {
			return child
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
	}
}

const crdText = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.harbour.example.com}
spec:
  group: harbour.example.com
  names: {kind: Boat, plural: boats}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

func writeCRD(t *testing.T) (folder, file string) {
	t.Helper()
	folder = t.TempDir()
	file = filepath.Join(folder, "boats.yaml")
	if err := os.WriteFile(file, []byte(crdText), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder, file
}

func boats(t *testing.T, config *rest.Config) dynamic.ResourceInterface {
	t.Helper()
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c.Resource(schema.GroupVersionResource{Group: "harbour.example.com", Version: "v1", Resource: "boats"})
}

func TestControlledServerObeysCommands(t *testing.T) {
	t.Parallel()
	_, file := writeCRD(t)
	child := controlled(t, "--crds", file, "--no-watch-cache")
	c := boats(t, &rest.Config{Host: child.URL()})
	var oldest string
	for i := range 3 {
		boat := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "harbour.example.com/v1", "kind": "Boat", "metadata": map[string]any{"name": fmt.Sprint("boat-", i)},
		}}
		boat, err := c.Create(t.Context(), boat, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			oldest = boat.GetResourceVersion()
		}
	}

	open, err := c.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Stop()
	if n, err := child.EndWatches(t.Context()); n != 1 || err != nil {
		t.Errorf("EndWatches returns %d, %v, want 1", n, err)
	}
	if rev, err := child.Compact(t.Context()); rev == 0 || err != nil {
		t.Errorf("Compact returns %d, %v", rev, err)
	}
	old, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: oldest})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Stop()
	if e := <-old.ResultChan(); e.Type != "ERROR" {
		t.Errorf("a watch after Compact got %s, want ERROR", e.Type)
	}
	if err := child.ExpireWatches(t.Context()); err != nil {
		t.Error(err)
	}
	if err := child.Quit(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(child.URL()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after Quit a request returns %v", err)
	}
	if _, err := child.Compact(t.Context()); err == nil {
		t.Error("Compact after Quit returns no error")
	}
}

// Built-in kinds and the collection of garbage have a flag each.
func TestBuiltInKinds(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--built-in-kinds"}, {"--built-in-kinds", "--collect-garbage"}} {
		c, err := dynamic.NewForConfig(&rest.Config{Host: controlled(t, flags...).URL()})
		if err != nil {
			t.Fatal(err)
		}
		maps := c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
		orphan := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "orphan", "ownerReferences": []any{
				map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "gone"},
			}},
		}}
		if _, err := maps.Create(t.Context(), orphan, metav1.CreateOptions{}); (err == nil) != (len(flags) > 0) {
			t.Errorf("%q: a create returns %v", flags, err)
		}
		// The child is another process, whose deletions give no signal: so this asks again.
		for deadline := time.Now().Add(patience); len(flags) == 2 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if _, err = maps.Get(t.Context(), "orphan", metav1.GetOptions{}); err != nil {
				break
			}
		}
		if _, err = maps.Get(t.Context(), "orphan", metav1.GetOptions{}); (err == nil) != (len(flags) == 1) {
			t.Errorf("%q: Get returns %v", flags, err)
		}
	}
}

// A wrong selector of shards is refused only where the gate is open.
func TestFeatureGates(t *testing.T) {
	t.Parallel()
	_, file := writeCRD(t)
	for gates, want := range map[string]int{"": http.StatusOK, "ShardedListAndWatch=true": http.StatusInternalServerError} {
		child := controlled(t, "--crds", file, "--feature-gates", gates)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, child.URL()+"/apis/harbour.example.com/v1/boats?shardSelector=x", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("with the feature gates %q the answer is %s, want %d", gates, answer.Status, want)
		}
	}
}

func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	folder, _ := writeCRD(t)
	data := t.TempDir()
	child := controlled(t, "--crds", folder, "--data-dir", data)
	addr := strings.TrimPrefix(child.URL(), "http://")
	boat := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "harbour.example.com/v1", "kind": "Boat", "metadata": map[string]any{"name": "survivor"},
	}}
	if _, err := boats(t, &rest.Config{Host: child.URL()}).Create(t.Context(), boat, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	killed, err := control.Start(t.Context(), asChild(t, "--data-dir", data, "--control"))
	if err == nil {
		killed.Kill()
		t.Fatal("two servers have the same folder")
	}
	if err := child.Quit(t.Context()); err != nil {
		t.Fatal(err)
	}

	again(t, "--data-dir", data, "--addr", addr).Kill()
	second := again(t, "--data-dir", data, "--addr", addr)
	endWithTest(t, second)
	if _, err := boats(t, &rest.Config{Host: second.URL()}).Get(t.Context(), "survivor", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestSignalEndsTheServer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("there is no SIGTERM on windows")
		return
	}
	folder, _ := writeCRD(t)
	for _, toFile := range []bool{true, false} {
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		args := []string{"--crds", folder}
		if toFile {
			args = append(args, "--kubeconfig", kubeconfig)
		}
		cmd := asChild(t, args...)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var text []byte
		if toFile {
			// The child is another process, whose writes give no signal: so this asks again.
			for deadline := time.Now().Add(patience); len(text) == 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
				text, _ = os.ReadFile(kubeconfig)
			}
		} else {
			lines := bufio.NewScanner(stdout)
			for lines.Scan() {
				text = append(text, lines.Text()+"\n"...)
				if strings.HasPrefix(lines.Text(), "  user:") {
					break
				}
			}
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(text)
		if err != nil {
			t.Fatalf("toFile=%v: the kubeconfig %q: %v", toFile, text, err)
		}
		if _, err := boats(t, config).List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("toFile=%v: %v", toFile, err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("toFile=%v: after SIGTERM: %v", toFile, err)
		}
	}
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--addr", "nowhere"}, `devserver: wrong options: Addr "nowhere" is not host:port`},
		{[]string{"--crds", "absent.yaml"}, "--crds absent.yaml: read CRDs:"},
		{[]string{"--compact-interval", "-1s"}, "--compact-interval -1s is negative"},
		{[]string{"--kubeconfig", "absent/folder/file"}, "--kubeconfig absent/folder/file:"},
		{[]string{"--feature-gates", "NoSuchGate=true"}, "--feature-gates: unrecognized feature gate: NoSuchGate"},
		{[]string{"--feature-gates", "ShardedListAndWatch=perhaps"}, "--feature-gates: invalid value of ShardedListAndWatch"},
		{[]string{"--unknown"}, "unknown flag: --unknown"},
		{[]string{"argument"}, `unexpected argument "argument"; a command to run stands after --`},
		{[]string{"argument", "--", "command"}, `unexpected argument "argument"`},
		{[]string{"--"}, "no command follows --"},
		{[]string{"--", "no-such-program"}, "devserver: run no-such-program: exec: "},
		{[]string{"--control", "--", "no-such-program"}, "--control: the server can't be controlled while it runs no-such-program"},
	} {
		cmd := asChild(t, test.args...)
		cmd.Stderr = nil
		_, err := cmd.Output()
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(exit.Stderr), test.want) ||
			strings.Contains(string(exit.Stderr), "devserver: devserver:") {
			t.Errorf("%q: got %v, want exit code 1 and %q", test.args, err, test.want)
			if exit != nil {
				t.Logf("stderr: %s", exit.Stderr)
			}
		}
	}
}

// TestKubeconfigIsWrittenToWhatIsThere and never put in the place of a device, a pipe or a link.
func TestKubeconfigIsWrittenToWhatIsThere(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(path("file"), []byte("something longer than what comes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "file", "null": os.DevNull} {
		if err := os.Symlink(target, path(link)); err != nil {
			t.Fatal(err)
		}
	}
	pipe, err := os.OpenFile(path("pipe"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()

	for _, name := range []string{"new", "file", "link", "pipe", "null"} {
		before, _ := os.Lstat(path(name))
		if err := writeKubeconfig(path(name), []byte("text")); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		after, err := os.Lstat(path(name))
		if err != nil || before != nil && after.Mode() != before.Mode() {
			t.Fatalf("%s: it is %v, %v; it was %v", name, after, err, before)
		}
	}
	for _, name := range []string{"new", "file"} {
		if text, err := os.ReadFile(path(name)); string(text) != "text" {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	var text [4]byte
	if _, err := io.ReadFull(pipe, text[:]); string(text[:]) != "text" {
		t.Errorf("the pipe has %q, %v", text, err)
	}
}
