// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/devserver"
)

// The numbers follow from how the objects are made; the times in between are not looked at.
var want = []string{
	"server", "install",
	"300 widgets and 4 sites, in",
	"300 widgets and 4 sites in the store after",
	"300 + 4 adds of the initial list after",
	"ByNode  node-07         13 widgets: red-007, red-031, red-055, …",
	"ByImage display:1.1     60 widgets",
	"ByOwner central-station  75 widgets: blue-001, blue-005, blue-009, …",
	"60 widgets in", "40 widgets in", "25 widgets in",
	"ByNode  node-07         14 widgets: green-030, red-055, red-079, …",
	"ByImage display:1.1     67 widgets",
	"ByOwner central-station  83 widgets: blue-029, blue-033, blue-037, …",
	"informers and server stopped",
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, options{}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	inOrder(t, out.String(), want)
}

// A second run finds the CRDs there and the objects of the first one gone.
func TestRunTwiceAgainstKubeconfig(t *testing.T) {
	server, err := devserver.Start(t.Context(), devserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":%q}}]}`, server.URL())
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var out strings.Builder
		if err := run(t.Context(), &out, options{kubeconfig: kubeconfig}); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		inOrder(t, out.String(), want)
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

func TestGenerateHasNothingToChange(t *testing.T) {
	var out strings.Builder
	if err := generate(t.Context(), newReport(&out)); err != nil {
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
