// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writeFiles writes files into a folder of the test's, and returns it.
func writeFiles(t *testing.T, contents map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func relayYAML(address string) string {
	return fmt.Sprintf(`
listen: {address: %q}
access: {mode: None}
resources: [{version: v1, resource: pods}]
shutdown: {delay: 0s, period: 0s}
`, address)
}

// TestRun checks the output and the exit code of calls. Calls that serve end at once, with their
// context.
func TestRun(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	folder := writeFiles(t, map[string]string{
		"relay.yaml":  relayYAML("127.0.0.1:0"),
		"taken.yaml":  relayYAML(taken.Addr().String()),
		"probes.yaml": strings.Replace(relayYAML("127.0.0.1:0"), "listen: {", fmt.Sprintf("listen: {probes: %q, ", taken.Addr()), 1),
		"tls.yaml":    strings.Replace(relayYAML("127.0.0.1:0"), "listen: {", "listen: {certFile: /none.crt, keyFile: /none.key, ", 1),
		"wrong.yaml":  "listn: {}",
		"kubeconfig":  kubeconfig("http://127.0.0.1:1"),
		"kubeconfig2": "nonsense: [",
	})
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, test := range []struct {
		args []string
		code int
		out  string // part of the output
	}{
		{[]string{"--help"}, exitOK, "--check-config"},
		{[]string{"--version"}, exitOK, "informer-relay"},
		{[]string{}, exitUsage, "at least one of the flags in the group [config demo] is required"},
		{[]string{"--nonsense"}, exitUsage, "unknown flag: --nonsense"},
		{[]string{"relay.yaml"}, exitUsage, `unknown command "relay.yaml"`},
		{[]string{"--config", in("none.yaml")}, exitUsage, "no such file"},
		{[]string{"--config", in("wrong.yaml"), "--check-config"}, exitUsage, `wrong.yaml:1:1: there is no key "listn", did you mean listen?`},
		{[]string{"--config", in("relay.yaml"), "--check-config"}, exitOK, "serves      /api/v1/pods"},
		{[]string{"--config", in("relay.yaml")}, exitUsage, "outside of a cluster, set --kubeconfig"},
		{[]string{"--config", in("relay.yaml"), "--kubeconfig", in("kubeconfig2")}, exitUsage, "--kubeconfig " + in("kubeconfig2")},
		{[]string{"--config", in("relay.yaml"), "--kubeconfig", in("kubeconfig"), "--pprof", ":6060"}, exitUsage, "--pprof: :6060 is not a loopback address"},
		{[]string{"--config", in("relay.yaml"), "--kubeconfig", in("kubeconfig"), "--pprof", taken.Addr().String()}, exitFailed, "address already in use"},
		{[]string{"--config", in("taken.yaml"), "--kubeconfig", in("kubeconfig")}, exitFailed, "address already in use"},
		{[]string{"--config", in("probes.yaml"), "--kubeconfig", in("kubeconfig")}, exitFailed, "listen.probes: listen tcp"},
		{[]string{"--config", in("tls.yaml"), "--kubeconfig", in("kubeconfig")}, exitUsage, "listen: stat /none.crt: no such file"},
		{[]string{"--config", in("relay.yaml"), "--kubeconfig", in("kubeconfig")}, exitOK, ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out bytes.Buffer
		if code := run(ctx, test.args, &out, &out); code != test.code || !strings.Contains(out.String(), test.out) {
			t.Errorf("run(%q) = %d, want %d; the output is\n%s\nwant %q in it", test.args, code, test.code, &out, test.out)
		}
	}
}

func kubeconfig(server string) string {
	return `
clusters: [{name: c, cluster: {server: "` + server + `"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`
}

// TestProfilesAreServedOnRequest runs a relay with --pprof.
func TestProfilesAreServedOnRequest(t *testing.T) {
	api := httptest.NewServer(http.NotFoundHandler())
	defer api.Close()
	folder := writeFiles(t, map[string]string{"relay.yaml": relayYAML("127.0.0.1:0"), "kubeconfig": kubeconfig(api.URL)})
	addresses := make(chan string, 2) // from the log
	logger := funcr.NewJSON(func(line string) {
		var logged struct{ Address string }
		if err := json.Unmarshal([]byte(line), &logged); err == nil && logged.Address != "" {
			addresses <- logged.Address
		}
	}, funcr.Options{})
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{
			"--config", filepath.Join(folder, "relay.yaml"), "--kubeconfig", filepath.Join(folder, "kubeconfig"), "--pprof", "127.0.0.1:0",
		}, io.Discard, io.Discard)
	}()
	var address [2]string
	for i := range address {
		select {
		case address[i] = <-addresses:
		case code := <-ended:
			t.Fatalf("run ended with exit code %d", code)
		}
	}
	profiles, serving := "http://"+address[0]+"/debug/pprof/", "http://"+address[1]
	for url, want := range map[string]int{
		serving + "/healthz":      http.StatusOK,
		serving + "/debug/pprof/": http.StatusTooManyRequests, // while the relay starts
		profiles + "heap":         http.StatusOK,
		profiles + "cmdline":      http.StatusOK,
	} {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: got %s, want %d", url, resp.Status, want)
		}
	}
	rebound, err := http.NewRequest(http.MethodGet, profiles+"heap", nil)
	if err != nil {
		t.Fatal(err)
	}
	rebound.Host = "evil.example"
	resp, err := http.DefaultClient.Do(rebound)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("profiles for the Host evil.example: got %s, want 403", resp.Status)
	}
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("run() = %d after its context ended, want %d", code, exitOK)
	}
	http.DefaultClient.CloseIdleConnections()
}
