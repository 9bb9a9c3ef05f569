// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

// TestMain runs the program if the environment has asProgram, and the tests otherwise.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const asProgram = "CRD_SAMPLE_TEST_AS_PROGRAM"

// want are parts of the output, in order. The times between them vary.
var want = []string{
	"server",
	"300 widgets and 4 sites, in",
	"300 widgets and 4 sites in the store after",
	`13 widgets in that of widgets.samples.informer-gen.dev/v1alpha1 with fields "spec.nodeName=node-07"`,
	"300 + 4 adds of the initial list after",
	"ByNode        node-07          13 widgets: red-007, red-031, red-055, …",
	"ByImage       display:1.1      60 widgets",
	"ByOwner       central-station  75 widgets: blue-001, blue-005, blue-009, …",
	"ByNodeAndTier node-07 bronze   13 widgets: red-007, red-031, red-055, …",
	"ByTier        bronze in shop  100 widgets",
	"60 widgets in", "40 widgets in", "25 widgets in",
	"ByNode        node-07          14 widgets: green-030, red-055, red-079, …",
	"ByImage       display:1.1      67 widgets",
	"ByOwner       central-station  83 widgets: blue-029, blue-033, blue-037, …",
	"ByNodeAndTier node-07 bronze   13 widgets: red-055, red-079, red-103, …",
	"ByTier        bronze in shop  111 widgets",
	"4 sites have a kiosk each, and [84 85 85 85] widgets in their status, after",
	"harbour is deleted, after its widgets: 0 are left, after",
	"all stopped",
}

func TestRunShowsAllSteps(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, options{}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	inOrder(t, out.String(), want)
}

// cluster starts another server than the program's own, with CRDs and namespaces.
func cluster(t *testing.T) (server *sourcetest.Server, config *rest.Config, kubeconfig string) {
	t.Helper()
	server = newServer()
	server.Patches = patches.All{}
	sourcetest.Serve[*unstructured.Unstructured](server, crdResource, "CustomResourceDefinition")
	sourcetest.Serve[*unstructured.Unstructured](server, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "Namespace")
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	file := clientcmdapi.NewConfig()
	file.Clusters["test"] = &clientcmdapi.Cluster{Server: web.URL}
	file.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
	file.CurrentContext = "test"
	if err := clientcmd.WriteToFile(*file, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return server, &rest.Config{Host: web.URL, QPS: -1}, kubeconfig
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// left returns the names of the objects of a resource.
func left(t *testing.T, config *rest.Config, resource schema.GroupVersionResource) (names []string) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	return names
}

// TestRunTwiceAgainstKubeconfig: the second run finds the CRDs of the first, no objects of it, and
// objects of a killed run.
func TestRunTwiceAgainstKubeconfig(t *testing.T) {
	_, config, kubeconfig := cluster(t)
	for n := range 2 {
		if n > 0 {
			killed, err := newShop(config)
			if err != nil {
				t.Fatal(err)
			}
			if err := killed.open(t.Context(), 10); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		if err := run(t.Context(), &out, options{kubeconfig: kubeconfig}); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		inOrder(t, out.String(), slices.Insert(slices.Clone(want), 1, "2 CRDs, served after"))
	}
	if crds := fmt.Sprint(left(t, config, crdResource)); crds != "[sites.samples.informer-gen.dev widgets.samples.informer-gen.dev]" {
		t.Errorf("the CRDs are %s", crds)
	}
}

// TestRunIgnoresTheEnvironment: without a flag, the program doesn't use the environment's cluster.
func TestRunIgnoresTheEnvironment(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "absent"))
	var out strings.Builder
	if err := run(t.Context(), &out, options{}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

func TestWrongKubeconfigs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := newServer() // without CRDs
	web := httptest.NewServer(server)
	defer web.Close()
	for kubeconfig, want := range map[string]string{
		"absent": "--kubeconfig absent: ",
		file:     "--kubeconfig " + file + ": ",
	} {
		err := run(t.Context(), io.Discard, options{kubeconfig: kubeconfig})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", kubeconfig, err, want)
		}
	}
	shop, err := newShop(&rest.Config{Host: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	want := "apply CRD sites.samples.informer-gen.dev: "
	if err := shop.install(t.Context(), newReport(io.Discard)); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("without CRDs: error %v, want %q", err, want)
	}
}

// TestInterruptedRunLeavesNothing interrupts the program at each step: it reports that, and leaves
// nothing in the cluster.
func TestInterruptedRunLeavesNothing(t *testing.T) {
	_, config, kubeconfig := cluster(t)
	for _, step := range []string{"  server ", "  install ", "  create    300 ", "  handlers ", "  create    60 ", "  control "} {
		ctx, interrupt := context.WithCancel(t.Context())
		out := &until{text: step, then: interrupt}
		if err := run(ctx, out, options{kubeconfig: kubeconfig}); !errors.Is(err, context.Canceled) {
			t.Errorf("run, interrupted at %q, returned %v, want %v\n%s", step, err, context.Canceled, out.String())
		}
		for _, resource := range []schema.GroupVersionResource{listers.WidgetResource(), listers.SiteResource()} {
			if names := left(t, config, resource); len(names) > 0 {
				t.Errorf("run, interrupted at %q, left %d %s", step, len(names), resource.Resource)
			}
		}
	}
}

// TestInterruptEndsWith130 interrupts the program while its informers wait for a list.
func TestInterruptEndsWith130(t *testing.T) {
	server, config, kubeconfig := cluster(t)
	endFault := server.Inject(sourcetest.Fault{On: sourcetest.List | sourcetest.WatchList, Skip: 2, Times: sourcetest.Always, Do: sourcetest.Fail(sourcetest.ErrHang)})
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--generate=false", "--kubeconfig", kubeconfig)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = t.Output()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if last = lines.Text(); strings.Contains(last, "create    300 ") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || !strings.Contains(last, "clear") {
		t.Errorf("exit code %d after %q, want 130 after the deletion of the objects", cmd.ProcessState.ExitCode(), last)
	}
	endFault()
	if names := left(t, config, crdResource); len(names) != 2 {
		t.Errorf("the CRDs are %v, want all of them", names)
	}
}

// TestInterruptedRunInMemory: without a cluster there is nothing to remove, and the server ends
// with the program.
func TestInterruptedRunInMemory(t *testing.T) {
	for _, step := range []string{"  generate ", "  server ", "  sync ", "  control "} {
		ctx, interrupt := context.WithCancel(t.Context())
		out := &until{text: step, then: interrupt}
		if err := run(ctx, out, options{generate: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted at %q run gives %v, want %v\n%s", step, err, context.Canceled, out.String())
		}
	}
}

// TestRunWatch: with --watch the program ends only on an interrupt, without an error. The command
// that it suggests to the user works.
func TestRunWatch(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &until{text: "curl -X DELETE "}
	out.then = func() {
		_, url, _ := strings.Cut(out.String(), out.text)
		request, err := http.NewRequestWithContext(ctx, http.MethodDelete, strings.TrimSpace(url), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("DELETE %s: %s", url, answer.Status)
		}
		out.text, out.then = " was on ", interrupt
	}
	if err := run(ctx, out, options{watch: true}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	inOrder(t, out.String(), append(want[:len(want)-1:len(want)-1], "Ctrl-C", "red-299", "was on", want[len(want)-1]))
}

// TestGenerateHasNothingToChange compares, because a test must not write into the sources.
func TestGenerateHasNothingToChange(t *testing.T) {
	files, err := generator.Generate(t.Context(), generator.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := files.Diff(); err != nil || len(changes) > 0 {
		t.Errorf("go generate would change %d files, error %v; run it", len(changes), err)
	}
}

// TestFewPackages counts the packages that go run must compile.
func TestFewPackages(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(list))); n > 500 {
		t.Errorf("the program has %d packages, want at most 500", n)
	}
}

// until calls then when the output contains text.
type until struct {
	strings.Builder
	text string
	then func()
}

func (u *until) Write(p []byte) (int, error) {
	if strings.Contains(string(p), u.text) {
		defer u.then()
	}
	return u.Builder.Write(p)
}

func inOrder(t *testing.T, text string, parts []string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("the output lacks %q, or has it in another order:\n%s", part, text)
		}
		rest = after
	}
}
