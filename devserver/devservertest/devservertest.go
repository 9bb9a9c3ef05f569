// SPDX-License-Identifier: Apache-2.0

package devservertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/informer-gen/informer-gen/devserver"
)

// New starts a server with Options.BuiltInKinds, Options.CollectGarbage, and the CRDs of the files
// and folders that are named, read as by devserver.ReadCRDs; a path that isn't absolute begins at
// the test's working folder, which is its package's. No path is no CRD. If that fails the test ends
// with t.Fatal, and the error says why.
//
// The server is ready when New returns, and has ended, with all that belongs to it, when the test
// and its cleanups registered later have: their clients can still reach it.
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

// Start is New with opts alone, so it collects garbage only if they say so.
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
