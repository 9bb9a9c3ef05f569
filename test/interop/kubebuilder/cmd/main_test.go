// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/test/internal/endstate"
)

// managerVariable is in the environment of a child process that runs the project's own main.
const managerVariable = "KUBEBUILDER_PROJECT_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(managerVariable) == "" {
		os.Exit(m.Run())
	}
	main()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(goleak.IgnoreTopFunction("sigs.k8s.io/controller-runtime/pkg/manager/signals.SetupSignalHandler.func1")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestBothCaches runs the project with either cache while a user changes objects, and compares the
// API's objects at the end.
func TestBothCaches(t *testing.T) {
	var states [2][]string
	for n, test := range []struct {
		cache string // its type, as the manager logs it
		flags []string
	}{
		{"*cache.informerCache", nil},
		{"*controllerruntime.Cache", []string{"--informer-gen"}},
	} {
		t.Run(test.cache, func(t *testing.T) {
			crds, err := devserver.ReadCRDs(os.DirFS("../config"), "crd/bases")
			if err != nil {
				t.Fatal(err)
			}
			server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true, CRDs: crds})
			end := startManager(t, server, test.flags...)
			states[n] = sail(t, server)
			if log := end(); !strings.Contains(log, test.cache) {
				t.Errorf("the manager's log lacks %q:\n%s", test.cache, log)
			}
		})
	}
	if theirs, ours := states[0], states[1]; !slices.Equal(theirs, ours) && !t.Failed() {
		t.Errorf("at the end, the API has only with controller-runtime's cache\n%s\nonly with ours\n%s",
			endstate.Without(theirs, ours), endstate.Without(ours, theirs))
	}
}

// startManager runs the project in a child process. When the test ends or end is called, it gets
// SIGTERM, and must shut down cleanly.
func startManager(t *testing.T, server *devserver.Server, flags ...string) (end func() (log string)) {
	t.Helper()
	text, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, text, 0o600); err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	manager := exec.Command(binary, append(flags, "--kubeconfig", kubeconfig, "--health-probe-bind-address", "0")...)
	manager.Env = append(os.Environ(), managerVariable+"=1")
	manager.Stdout, manager.Stderr = &log, &log
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceValue(func() string {
		if err := manager.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := manager.Wait(); err != nil {
			t.Errorf("the manager: %v", err)
		}
		if t.Failed() {
			t.Logf("the manager has logged\n%s", log.String())
		}
		return log.String()
	})
	t.Cleanup(func() { end() })
	return end
}
