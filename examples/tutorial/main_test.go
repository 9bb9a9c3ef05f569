// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/tutorial/v1"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

func TestRun(t *testing.T) {
	server := devservertest.New(t, "config/crd")
	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", name)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "localhost:0") }()

	client, err := source.NewClient(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := writer.New[*v1.Team](client, listers.TeamResource(), writer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	team := &v1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blue"}, Spec: v1.TeamSpec{Members: []string{"ann"}}}
	if _, _, err := cluster.Create(ctx, team); err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client)
	seen := factory.Tutorial().V1().Teams().Informer()
	if err := factory.Start(ctx); err != nil {
		t.Fatal(err)
	}
	err = seen.Until(ctx, func(all *store.Snapshot[*v1.Team]) (bool, error) {
		for team := range all.All() {
			return team.Status.Desks == 1, nil
		}
		return false, nil
	})
	if err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("run ended with %v, want %v", err, context.Canceled)
	}
	if err := factory.Shutdown(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
}

// TestPageMatchesCode compares the code of docs/tutorial.md with the files here.
func TestPageMatchesCode(t *testing.T) {
	var code strings.Builder
	for _, pattern := range []string{"*.go", "*.yaml", "teams/*.go", "api/v1/types.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no files match %s (%v)", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	tutorial, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(?:go|yaml)\n(.*?)```").FindAllStringSubmatch(string(tutorial), -1)
	for _, block := range blocks {
		if !strings.Contains(code.String(), block[1]) {
			t.Errorf("the files lack this code of the page:\n%s", block[1])
		}
	}
	if len(blocks) < 8 {
		t.Errorf("found %d blocks of code, want at least 8", len(blocks))
	}
}
