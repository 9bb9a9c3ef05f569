// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/control"
)

// The environment tells a process that it is the child, and what it should do.
const (
	childDir   = "SOAK_CHILD_DIR"   // of the server's data; set only in the child
	childAddr  = "SOAK_CHILD_ADDR"  // of the server
	childProxy = "SOAK_CHILD_PROXY" // address of the proxy
)

// agent is the user agent of informers' requests, by which the child knows them.
const agent = "soak-informer"

// isChild reports whether this process is to be the server.
func isChild() bool { return os.Getenv(childDir) != "" }

// serve is the child: an API server, a proxy before it, and the faults of both.
func serve(ctx context.Context) error {
	crds, err := devserver.ParseCRDs("crd.yaml", crdYAML)
	if err != nil {
		return err
	}
	p, err := listenProxy(os.Getenv(childProxy))
	if err != nil {
		return err
	}
	f := &faulty{proxy: p}
	server, err := devserver.Start(ctx, devserver.Options{Addr: os.Getenv(childAddr), Dir: os.Getenv(childDir), CRDs: crds, WrapHandler: f.wrap})
	if err != nil {
		return err
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		return err
	}
	go p.serve(u.Host)
	return errors.Join(control.Serve(ctx, server, os.Stdin, os.Stdout), server.Close())
}

// faulty makes the faults that a server answers with, and obeys the parent's requests below /soak/.
type faulty struct {
	proxy  *proxy
	until  atomic.Int64 // when informers' requests are answered normally again, in Unix nanoseconds
	status atomic.Int64 // what they are answered with before
}

func (f *faulty) wrap(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() == agent && time.Now().UnixNano() < f.until.Load() {
			refuse(w, int(f.status.Load()))
			return
		}
		next.ServeHTTP(w, r)
	}))
	mux.HandleFunc("/soak/proxy", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, f.proxy.listener.Addr()) })
	mux.HandleFunc("/soak/reset", func(http.ResponseWriter, *http.Request) { f.proxy.reset() })
	mux.HandleFunc("/soak/silence", func(_ http.ResponseWriter, r *http.Request) { f.proxy.silence(duration(r)) })
	mux.HandleFunc("/soak/refuse", func(_ http.ResponseWriter, r *http.Request) {
		status, _ := strconv.ParseInt(r.URL.Query().Get("status"), 10, 64)
		f.status.Store(status)
		f.until.Store(time.Now().Add(duration(r)).UnixNano())
	})
	return mux
}

func duration(r *http.Request) time.Duration {
	d, _ := time.ParseDuration(r.URL.Query().Get("for"))
	return d
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(status), Message: "a fault of the soak test",
	})
}

// proxy passes connections on, byte by byte.
type proxy struct {
	listener net.Listener

	mu    sync.Mutex // mu guards what follows
	conns map[net.Conn]bool
	loud  time.Time // when bytes pass again
}

func listenProxy(addr string) (*proxy, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for informers: %w", err)
	}
	return &proxy{listener: l, conns: map[net.Conn]bool{}}, nil
}

// serve passes connections on until the process ends.
func (p *proxy) serve(target string) {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", target)
		if err != nil {
			in.Close()
			continue
		}
		p.mu.Lock()
		p.conns[in] = true
		p.mu.Unlock()
		go p.pass(in, out, in)
		go p.pass(out, in, in)
	}
}

func (p *proxy) pass(to, from, client net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		wait := time.Until(p.loud)
		p.mu.Unlock()
		time.Sleep(wait)
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			break
		}
	}
	to.Close()
	from.Close()
	p.mu.Lock()
	delete(p.conns, client)
	p.mu.Unlock()
}

// reset resets all connections.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // Close then sends RST
		}
		conn.Close()
	}
}

// silence holds all bytes back for some time.
func (p *proxy) silence(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loud = time.Now().Add(d)
}

// cluster is the child, as its parent sees it. Its addresses stay the same when it is started
// again.
type cluster struct {
	dir   string
	child *control.Process // replaced by restart
	url   string           // of the server
	proxy string           // URL for informers
	http  *http.Client     // for writers and for orders to the child
}

func startCluster(ctx context.Context, dir string) (*cluster, error) {
	c := &cluster{dir: dir, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers + 1}, Timeout: patience}}
	if err := c.start(ctx, "127.0.0.1:0", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	c.url = c.child.URL()
	addr, err := c.order(ctx, "proxy", "")
	if err != nil {
		c.child.Kill()
		return nil, err
	}
	c.proxy = "http://" + addr
	return c, nil
}

func (c *cluster) start(ctx context.Context, addr, proxyAddr string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childDir+"="+c.dir, childAddr+"="+addr, childProxy+"="+proxyAddr)
	cmd.Stderr = quiet{os.Stderr}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c.child, err = control.Start(ctx, cmd)
	return err
}

// quiet drops the lines that etcd's client logs about requests that were given up, as those of
// writers are at the end.
type quiet struct{ io.Writer }

// Write implements io.Writer. What is written at a time is a line.
func (q quiet) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"logger":"etcd-client"`)) {
		return len(line), nil
	}
	return q.Writer.Write(line)
}

// restart kills the child and starts it again.
func (c *cluster) restart(ctx context.Context) error {
	c.child.Kill()
	return c.start(ctx, strings.TrimPrefix(c.url, "http://"), strings.TrimPrefix(c.proxy, "http://"))
}

func (c *cluster) stop() error {
	c.http.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.child.Quit(ctx)
}

// order asks for something below /soak/.
func (c *cluster) order(ctx context.Context, what, query string) (string, error) {
	return c.do(ctx, http.MethodGet, "/soak/"+what+"?"+query, "", nil)
}

// do makes a request and returns the body of the answer; an answer other than 2xx is a statusError.
func (c *cluster) do(ctx context.Context, method, path, contentType string, body io.Reader) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode >= http.StatusMultipleChoices {
		return "", statusError{resp.StatusCode, string(text)}
	}
	return string(text), err
}

// statusError is an answer that is not a success.
type statusError struct {
	code int
	body string
}

// Error implements error.
func (e statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.code, e.body) }
