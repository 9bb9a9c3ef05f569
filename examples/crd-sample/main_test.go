// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/devserver"
)

// The numbers follow from how the objects are made; the times in between are not looked at.
var want = []string{
	"server", "install",
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

// cluster starts a server that isn't the program's own.
func cluster(t *testing.T) (server *devserver.Server, kubeconfig string) {
	t.Helper()
	server, err := devserver.Start(context.Background(), devserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	text, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return server, kubeconfig
}

// A second run finds the CRDs there, the objects of the first one gone, and those of one that was
// killed.
func TestRunTwiceAgainstKubeconfig(t *testing.T) {
	server, kubeconfig := cluster(t)
	for n := range 2 {
		if n > 0 {
			killed, err := newShop(t.Context(), server.Config())
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
		inOrder(t, out.String(), want)
	}
}

// Wherever it is interrupted, it says so and leaves nothing in the cluster.
func TestInterruptedRunLeavesNothing(t *testing.T) {
	server, kubeconfig := cluster(t)
	shop, err := newShop(t.Context(), server.Config())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"  server ", "  install ", "  create    300 ", "  handlers ", "  create    60 "} {
		ctx, interrupt := context.WithCancel(t.Context())
		out := &until{text: step, then: interrupt}
		if err := run(ctx, out, options{kubeconfig: kubeconfig}); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted at %q run gives %v, want %v\n%s", step, err, context.Canceled, out.String())
		}
		if step == "  server " { // no CRDs yet
			continue
		}
		for _, resource := range []string{"widgets", "sites"} {
			var left metav1.PartialObjectMetadataList
			text, err := shop.client.Get().Resource(resource).Do(t.Context()).Raw()
			if err == nil {
				err = json.Unmarshal(text, &left)
			}
			if err != nil || len(left.Items) > 0 {
				t.Errorf("interrupted at %q run leaves %d %s, %v", step, len(left.Items), resource, err)
			}
		}
	}
}

// With watch it ends only when it is told to, and without an error.
func TestRunWatch(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &until{text: "Ctrl-C", then: interrupt}
	if err := run(ctx, out, options{watch: true}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	inOrder(t, out.String(), append(want[:len(want)-1:len(want)-1], "Ctrl-C", want[len(want)-1]))
}

// A test writes nothing into the sources, hence the flag.
func TestGenerateHasNothingToChange(t *testing.T) {
	var out strings.Builder
	if err := generate(t.Context(), newReport(&out), "--check"); err != nil {
		t.Fatal(err)
	}
	inOrder(t, out.String(), []string{"go tool informer-gen", "nothing to change"})
}

// until calls a function when a text is written.
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
			t.Fatalf("%q is missing or out of order in\n%s", part, text)
		}
		rest = after
	}
}
