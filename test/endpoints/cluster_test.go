// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver/control"
)

// TestHistoriesAgainstAnAPIServer plays histories to both controllers, each alone with a devserver:
// etcd and the generic API server, with Services, Pods and Endpoints as storage.
func TestHistoriesAgainstAnAPIServer(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "devserver")
	build := exec.Command("go", "build", "-o", binary, "./cmd/devserver") // by its own go.mod
	build.Dir = filepath.Join("..", "..", "devserver")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	var servers [2]string
	for n := range sides {
		servers[n] = startServer(t, binary)
	}
	for from := 0; from < *clustered; from += atOnce {
		seeds := seedsFrom(from, *clustered)
		var results [2][]result
		for n, s := range sides {
			transport := &http.Transport{MaxIdleConnsPerHost: atOnce}
			on := stage{
				config: &rest.Config{Host: servers[n], Transport: transport}, pause: 20 * time.Millisecond, namespaces: true,
				settle: func(all []*history) error { return untilRight(t.Context(), all) },
			}
			var err error
			if results[n], err = s.play(t.Context(), on, seeds); err != nil {
				t.Fatal(s.name, err)
			}
			transport.CloseIdleConnections()
		}
		compare(t, seeds, results)
	}
}

func startServer(t *testing.T, binary string) (url string) {
	t.Helper()
	cmd := exec.Command(binary, "--control", "--built-in-kinds", "--addr", "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	server, err := control.Start(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Quit(ctx); err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

// untilRight waits until what is left behind is what the rules say. It fails if that takes long.
func untilRight(ctx context.Context, all []*history) error {
	for _, h := range all {
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			r, err := h.result(ctx)
			if err != nil {
				return err
			}
			why := r.wrong()
			if why == "" {
				break
			}
			if time.Since(began) > 30*time.Second {
				return fmt.Errorf("%s: after 30 s: %s", h.namespace, why)
			}
		}
	}
	return nil
}
