// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/informer-gen/informer-gen/test/internal/poll"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

const (
	fenceCycles = 100 // number of stopped leaders
	// maxLate is the allowed number of late requests. Once in thousands of cycles, a process is
	// stopped between its look at the clock and the system call. Without the fence of connections
	// there are 10 to 200.
	maxLate = 1
)

// audit is a server that knows the leader at the arrival of each request.
type audit struct {
	leases *sourcetest.Collection[*coordinationv1.Lease]
	api    *sourcetest.Server

	mu      sync.Mutex     // mu guards the fields below
	leader  string         // by the last write of the Lease
	arrived map[string]int // requests by kind
	work    int            // requests of the leader since it leads
	late    map[string]int // requests of other processes by kind
}

func newAudit() *audit {
	a := &audit{api: sourcetest.New(), arrived: map[string]int{}, late: map[string]int{}}
	a.leases = sourcetest.Serve[*coordinationv1.Lease](a.api, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	return a
}

// ServeHTTP implements http.Handler.
func (a *audit) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !strings.Contains(req.URL.Path, "/leases") {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return // the request was cut off
		}
		a.note(req)
		return
	}
	a.api.ServeHTTP(w, req)
	if req.Method == http.MethodGet {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	lease, ok := a.leases.Get("default", electionName)
	if ok && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != a.leader {
		a.leader, a.work = *lease.Spec.HolderIdentity, 0
	}
}

// note counts a complete request.
func (a *audit) note(req *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := fmt.Sprintf("%s over %s", req.Method, req.Proto)
	a.arrived[kind]++
	if req.UserAgent() != a.leader {
		a.late[kind]++
		return
	}
	a.work++
}

// leads waits for a leader other than not, at work, and returns its name.
func (a *audit) leads(t *testing.T, not string) (leader string) {
	t.Helper()
	poll.Until(t, func() error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if leader = a.leader; leader == not || a.work < busyGoroutines {
			return fmt.Errorf("no process other than %q leads and works", not)
		}
		return nil
	})
	return leader
}

// TestElectionFenceOfStoppedLeaders stops each leader at a random moment, and lets it go on when
// the next leader works. Each of its goroutines is busy with a request, which must not arrive any
// more.
func TestElectionFenceOfStoppedLeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("stops busy processes hundreds of times, for minutes; .ci/run timed runs it")
	}
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			a := newAudit()
			server := httptest.NewUnstartedServer(a)
			server.EnableHTTP2 = true
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are cut off
			server.StartTLS()
			t.Cleanup(server.Close)
			processes := map[string]*exec.Cmd{}
			for _, name := range []string{"a", "b", "c"} {
				processes[name] = startBusy(t, name, protocol, server.URL)
			}
			random := randomly(t)
			for range fenceCycles {
				stopAndGoOn(t, a, processes, random)
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			t.Logf("%d cycles, requests: %v", fenceCycles, a.arrived)
			t.Logf("late requests, of processes that no longer lead: %v", a.late)
			late := 0
			for _, n := range a.late {
				late += n
			}
			if late > maxLate {
				t.Errorf("%d requests arrived late, want at most %d", late, maxLate)
			}
		})
	}
}

func stopAndGoOn(t *testing.T, a *audit, processes map[string]*exec.Cmd, random *rand.Rand) {
	t.Helper()
	leader := a.leads(t, "")
	// The stop comes at a random moment between renewals.
	time.Sleep(time.Duration(random.Int64N(int64(200 * time.Millisecond))))
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := processes[leader].Process.Signal(signal); err != nil {
			t.Fatalf("%v for %s: %v", signal, leader, err)
		}
		a.leads(t, leader)
	}
}

// startBusy starts a busy process, which is killed when the test ends.
func startBusy(t *testing.T, name, protocol, url string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(executable)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", busyEnv, name, protocol, url))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		err := <-ended
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Exited() {
			t.Errorf("process %s has ended before the test: %v: %s", name, err, &stderr)
		}
	})
	return cmd
}
