// SPDX-License-Identifier: Apache-2.0

package kubeserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// folder is the environment variable with the folder of the server's files. It makes a process the
// server.
const folder = "KUBESERVER_FOLDER"

// access is the line written by the child process: it tells how to reach the server.
type access struct{ URL, Token string }

// readyWithin bounds a server's start, on a machine busy with tests.
const readyWithin = 2 * time.Minute

// Start starts a server, which ends with the test, and returns a configuration for its clients.
func Start(t testing.TB) *rest.Config {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	server := exec.Command(binary)
	server.Env = append(os.Environ(), folder+"="+t.TempDir())
	server.Stderr = &log
	life, err := server.StdinPipe() // the server ends with it, also if this process is killed
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		life.Close()
		if err := server.Wait(); err != nil {
			t.Errorf("kube-apiserver: %v\n%s", err, tail(log.Bytes()))
		}
	})
	var reach access
	if err := json.NewDecoder(out).Decode(&reach); err != nil {
		t.Fatalf("kube-apiserver has not started: %v", err)
	}
	config := &rest.Config{Host: reach.URL, BearerToken: reach.Token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if err := awaitReady(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return config
}

func awaitReady(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		body, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready after %v: %w: %s", readyWithin, err, body)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func tail(log []byte) []byte { return log[max(0, len(log)-4000):] }
