// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var kills = flag.Int("kills", 30, "number of processes that TestKilledAtAnyMoment kills")

// Environment variables of the killed process.
const (
	killedServer = "INFORMER_TEST_KILLED_SERVER"
	killedDir    = "INFORMER_TEST_KILLED_DIR"
)

// TestKilledAtAnyMoment kills processes whose informers write checkpoints without a pause, while
// the objects change. After each kill, an informer with the same checkpoint reaches the server's
// state.
func TestKilledAtAnyMoment(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		runUntilKilled(t, os.Getenv(killedServer), dir)
		return
	}
	server := newShopOfTwenty()
	for i := range 1000 { // so writing takes a while
		server.Pods.Create(labelled("shop", "more-"+numbered(i), map[string]string{"app": "web"}))
	}
	write := otherWrites(server)
	httpServer := httptest.NewServer(server)
	defer httpServer.Close()
	dir, r, restored := t.TempDir(), rand.New(rand.NewPCG(1, 1)), 0
	for i := range *kills {
		// With a change since the last checkpoint, the process need not wait half a second for one.
		created := server.Pods.Create(pod("shop", fmt.Sprint("round-", i), ""))
		kill := startToKill(t, httpServer.URL, dir)
		changeFor(time.Duration(r.Int64N(int64(50*time.Millisecond))), func(n int) {
			if i%3 == 0 { // only the version changes
				write()
				server.Bookmark()
			} else {
				server.Move(numbered(n%20), fmt.Sprint("node-", i, "-", n))
			}
		})
		deleted := server.Pods.Delete("shop", created.Name)
		kill()
		if i%10 == 9 {
			server.Compact()
		}
		if afterKill(t, server, httpServer.URL, dir, deleted) {
			restored++
		}
	}
	t.Logf("%d of %d informers began with a checkpoint", restored, *kills)
	if restored < *kills/4 {
		t.Errorf("only %d of %d informers began with a checkpoint, want at least a quarter", restored, *kills)
	}
}

// changeFor calls change again and again for a while.
func changeFor(d time.Duration, change func(n int)) {
	for n, start := 0, time.Now(); time.Since(start) < d; n++ {
		change(n)
		time.Sleep(time.Millisecond)
	}
}

// startToKill starts a process, and waits until its informer has synced. kill kills the process.
func startToKill(t *testing.T, server, dir string) (kill func()) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledAtAnyMoment$")
	child.Env = append(os.Environ(), killedServer+"="+server, killedDir+"="+dir)
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	noError(t, err)
	kill = sync.OnceFunc(func() {
		noError(t, child.Process.Kill())
		_ = child.Wait() // it was killed
	})
	t.Cleanup(kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "synced" {
			return kill
		}
	}
	t.Fatal("the process has ended by itself")
	return kill
}

// runUntilKilled runs one informer after the other; each writes its checkpoint when it stops. The
// process ends with its parent, at the latest.
func runUntilKilled(t *testing.T, server, dir string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	for {
		pods, lease := startPods(t, server, dir)
		noError(t, pods.WaitForCacheSync(t.Context()))
		fmt.Println("synced")
		noError(t, lease.Release(t.Context()))
	}
}

// startPods starts an informer with a checkpoint, over HTTP.
func startPods(t *testing.T, server, dir string) (*informer.SharedIndexInformer[*corev1.Pod], *informer.Lease) {
	t.Helper()
	client, err := source.NewClient(&rest.Config{Host: server})
	noError(t, err)
	pods := podsOf(factories.New(client, informer.WithCheckpoint(dir)))
	lease, err := pods.Acquire(t.Context())
	noError(t, err)
	return pods, lease
}

// afterKill starts an informer with the checkpoint of the killed process, asserts that it reaches
// the server's state, and reports whether it has begun with a checkpoint.
func afterKill(t *testing.T, server *shop, url, dir string, deleted *corev1.Pod) (restored bool) {
	t.Helper()
	pods, lease := startPods(t, url, dir)
	defer func() {
		noError(t, lease.Release(context.WithoutCancel(t.Context())))
	}()
	noError(t, pods.WaitForCacheSync(t.Context()))
	want := server.Pods.All()
	for _, pod := range want {
		noError(t, pods.AwaitObject(t.Context(), pod))
	}
	noError(t, pods.AwaitDeleted(t.Context(), deleted))
	snapshot := pods.Store().Snapshot()
	if snapshot.Len() != len(want) {
		t.Errorf("the store has %d pods, want %d", snapshot.Len(), len(want))
	}
	for _, pod := range want {
		if got, ok := snapshot.Get(object.KeyOf(pod)); !ok || got.ResourceVersion != pod.ResourceVersion || got.Spec.NodeName != pod.Spec.NodeName {
			t.Errorf("pod %s differs from the server's", pod.Name)
		}
	}
	return pods.Status().Reflector.Restored != ""
}
