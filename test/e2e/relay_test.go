// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/test/internal/address"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// relayBinary builds informer-relay once, into the folder of the devserver command.
var relayBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "informer-relay.exe")
	out, err := exec.Command("go", "build", "-o", path, "github.com/informer-gen/informer-gen/cmd/informer-relay").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the relay: %w\n%s", err, out)
	}
	return path, nil
})

// relay is informer-relay as a child process, in front of an API server.
type relay struct {
	url, address string
	transport    *http.Transport // to the relay
	folder       string          // of its files
	cmd          *exec.Cmd
}

// certificate is the certificate of 127.0.0.1, in files.
type certificate struct {
	certFile, keyFile string
	roots             *x509.CertPool
}

func newCertificate(t *testing.T) *certificate {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	c := &certificate{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"), x509.NewCertPool()}
	c.roots.AppendCertsFromPEM(cert)
	for file, data := range map[string][]byte{c.certFile: cert, c.keyFile: key} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// transport returns a new transport, which prefers HTTP/2.
func (c *certificate) transport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.roots}, ForceAttemptHTTP2: true}
}

// newRelay starts a relay of Crates. With a certificate it serves TLS.
func newRelay(t *testing.T, upstream string, pair *certificate) *relay {
	t.Helper()
	listener := address.Reserve(t) // also after a restart
	r := &relay{url: "http://" + listener, address: listener, folder: t.TempDir(), transport: &http.Transport{}}
	listen := ""
	if pair != nil {
		r.url, r.transport = "https://"+listener, pair.transport()
		listen = fmt.Sprintf(", certFile: %q, keyFile: %q", pair.certFile, pair.keyFile)
	}
	for name, text := range map[string]string{
		"relay.yaml": `
listen: {address: "` + listener + `"` + listen + `}
access: {mode: None}
resources: [{group: harbour.example.com, version: v1, resource: crates}]
shutdown: {delay: 0s, period: 100ms}
`,
		"kubeconfig": `
clusters: [{name: c, cluster: {server: "` + upstream + `"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`,
	} {
		if err := os.WriteFile(filepath.Join(r.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.start(t)
	t.Cleanup(func() { r.end(t, os.Kill) })
	return r
}

// start starts the process, and waits until it is ready.
func (r *relay) start(t *testing.T) {
	t.Helper()
	path, err := relayBinary()
	if err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.Command(path, "--config", filepath.Join(r.folder, "relay.yaml"), "--kubeconfig", filepath.Join(r.folder, "kubeconfig"))
	r.cmd.Stderr = os.Stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer r.transport.CloseIdleConnections()
	poll.Until(t, func() error {
		resp, err := (&http.Client{Transport: r.transport}).Get(r.url + "/readyz")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s %w", resp.Status, text, err)
		}
		return nil
	})
}

// end sends a signal, and returns when the process has ended.
func (r *relay) end(t *testing.T, signal os.Signal) {
	if r.cmd == nil {
		return
	}
	if err := r.cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	err := r.cmd.Wait()
	if err != nil && signal != os.Kill {
		t.Errorf("the relay ended: %v", err)
	}
	r.cmd = nil
}

// openWatches returns the number of open watches.
func (p *proxy) openWatches() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.streams {
		if r.watch() {
			n++
		}
	}
	return n
}

func awaitWatches(t *testing.T, p *proxy, want int) {
	t.Helper()
	poll.Until(t, func() error {
		if n := p.openWatches(); n != want {
			return fmt.Errorf("the API server has %d watches, want %d", n, want)
		}
		return nil
	})
}

// reader is an informer with its handler. To servers it looks like a process of its own.
type reader struct {
	informer *informer.SharedIndexInformer[*Crate]
	history  *history[*Crate]
}

func newReaders(t *testing.T, url string, ns collection, n int, transport func() *http.Transport) []reader {
	t.Helper()
	readers := make([]reader, n)
	for k := range readers {
		own := transport()
		t.Cleanup(own.CloseIdleConnections)
		client, err := source.NewClient(&rest.Config{Host: url, Transport: own})
		if err != nil {
			t.Fatal(err)
		}
		f := factories.New(client, informer.WithNamespace(ns.namespace))
		i := factories.For[*Crate](f, ns.gvr)
		h, _ := listen(t, i)
		readers[k] = reader{i, h}
		runSynced(t, f)
	}
	return readers
}

func agreeAll(t *testing.T, ns collection, readers []reader) {
	t.Helper()
	want := ns.state(t)
	for _, r := range readers {
		agree(t, want, r.history, r.informer.Store())
	}
}

// TestManyInformersBehindRelay: a hundred informers, as of a hundred processes, make one watch at
// the API server, also after the relay is killed or shut down and starts again. No change is lost.
func TestManyInformersBehindRelay(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 10)
	p := newProxy(t, shared.url, nil)
	r := newRelay(t, p.url, nil)
	awaitWatches(t, p, 1)
	readers := newReaders(t, r.url, ns, 100, func() *http.Transport { return &http.Transport{} })
	agreeAll(t, ns, readers)
	for round, signal := range []os.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		awaitWatches(t, p, 1)
		ns.setWeight(t, "crate-000", int64(2*round+1))
		r.end(t, signal)
		awaitWatches(t, p, 0)
		ns.setWeight(t, "crate-000", int64(2*round+2))
		ns.delete(t, fmt.Sprintf("crate-00%d", round+1))
		ns.create(t, crate(fmt.Sprintf("meanwhile-%d", round)))
		r.start(t)
		ns.create(t, crate(fmt.Sprintf("after-%d", round)))
		agreeAll(t, ns, readers)
	}
	watches := p.requests((*request).watch)
	if len(watches) != 3 {
		t.Errorf("the API server got %d watches in 3 runs of the relay, want 3", len(watches))
	}
	awaitWatches(t, p, 1)
}

// balancer passes each connection on to the first address that accepts it.
type balancer struct {
	listener net.Listener
	to       []string
	passing  sync.WaitGroup
}

func newBalancer(t *testing.T, to ...string) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: l, to: to}
	b.passing.Go(b.accept)
	t.Cleanup(func() {
		l.Close()
		b.passing.Wait()
	})
	return b
}

func (b *balancer) accept() {
	for {
		from, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.passing.Go(func() {
			defer from.Close()
			for _, address := range b.to {
				to, err := net.DialTimeout("tcp", address, poll.Patience)
				if err != nil {
					continue
				}
				defer to.Close()
				var back sync.WaitGroup
				back.Go(func() {
					_, _ = io.Copy(from, to) // ends with either connection
					from.Close()
				})
				_, _ = io.Copy(to, from)
				to.Close()
				back.Wait()
				return
			}
		})
	}
}

// TestRelayDemo runs the demo at the beginning of docs/relay.md.
func TestRelayDemo(t *testing.T) {
	t.Parallel()
	path, err := relayBinary()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if last, ok := t.Deadline(); ok { // leaves time to report a slow build of the API server
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(last)*9/10)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, path, "--demo")
	cmd.Dir, cmd.WaitDelay = filepath.Join("..", ".."), time.Minute
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"20 informers have synced. The API server has 1 open watch (1 since the start).", "+ meanwhile", "20 of 20 saw the same."} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("informer-relay --demo: error %v, no %q in\n%s", err, want, out)
		}
	}
}

// TestClientsMoveBetweenReplicas ends one of two replicas. Its clients go on at the other, from
// their last version and without a relist.
func TestClientsMoveBetweenReplicas(t *testing.T) {
	t.Parallel()
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		move(t, os.Kill, nil, func() *http.Transport { return &http.Transport{} })
	})
	t.Run("shut down, over TLS", func(t *testing.T) {
		t.Parallel()
		pair := newCertificate(t)
		move(t, syscall.SIGTERM, pair, pair.transport)
	})
}

func move(t *testing.T, signal os.Signal, pair *certificate, transport func() *http.Transport) {
	ns := shared.crates(t)
	ns.createMany(t, 5)
	p := newProxy(t, shared.url, nil)
	first, second := newRelay(t, p.url, pair), newRelay(t, p.url, pair)
	b := newBalancer(t, first.address, second.address)
	url := strings.Replace(first.url, first.address, b.listener.Addr().String(), 1)
	readers := newReaders(t, url, ns, 20, transport)
	// The second replica's history begins before this version of the readers.
	ns.setWeight(t, "crate-000", 1)
	agreeAll(t, ns, readers)
	awaitWatches(t, p, 2)

	first.end(t, signal)
	ns.setWeight(t, "crate-000", 2)
	ns.delete(t, "crate-001")
	ns.create(t, crate("meanwhile"))
	agreeAll(t, ns, readers)
	awaitWatches(t, p, 1)
	for n, r := range readers {
		if s := r.informer.Status().Reflector; s.Relists != 0 {
			t.Errorf("informer %d has relisted: %v", n, s)
		}
	}
}
