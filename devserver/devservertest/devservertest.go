// SPDX-License-Identifier: Apache-2.0

package devservertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/informer-gen/informer-gen/devserver"
)

// New starts a server with Options.BuiltInKinds, Options.CollectGarbage, and the CRDs of the named
// files and folders, read as by [devserver.ReadCRDs]. Relative paths start at the test's working
// folder, which is its package's. If the start fails, New ends the test with t.Fatal and the
// reason.
//
// The server is ready when New returns. It ends, with all that belongs to it, after the test and
// the cleanups registered later.
func New(t testing.TB, crds ...string) *devserver.Server {
	t.Helper()
	opts := devserver.Options{BuiltInKinds: true, CollectGarbage: true}
	for _, path := range crds {
		abs, err := filepath.Abs(path)
		if err != nil {
			t.Fatalf("devservertest: find %s: %v", path, err)
		}
		found, err := devserver.ReadCRDs(os.DirFS(filepath.Dir(abs)), filepath.Base(abs))
		if err != nil {
			t.Fatalf("devservertest: read the CRDs of %s: %v", path, err)
		}
		opts.CRDs = append(opts.CRDs, found...)
	}
	return Start(t, opts)
}

// Start is like [New], but with opts alone: it collects garbage only if they say so.
func Start(t testing.TB, opts devserver.Options) *devserver.Server {
	t.Helper()
	server, err := devserver.Start(context.WithoutCancel(t.Context()), opts)
	if err != nil {
		t.Fatalf("devservertest: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("devservertest: stop the server: %v", err)
		}
	})
	return server
}
