// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// The pause of poll is a twentieth of the time waited so far, within these bounds. Conditions
// become true within milliseconds on a Server, and within seconds on other clusters, which
// shouldn't be flooded with requests.
const minPause, maxPause = 2 * time.Millisecond, 200 * time.Millisecond

var (
	jsonContent = rest.ContentConfig{
		AcceptContentTypes: runtime.ContentTypeJSON,
		ContentType:        runtime.ContentTypeJSON,
	}
	discardLog = log.New(io.Discard, "", 0)
)

// refusal is an error that repeated requests can't change.
type refusal struct{ error }

// poll calls f until it returns nil or a refusal, and returns the refusal's error. If ctx ends
// first, the error wraps context.Cause(ctx), and has the text of f's last error.
func poll(ctx context.Context, f func(context.Context) error) error {
	var last error
	for began := time.Now(); ; {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if final, ok := err.(refusal); ok {
			return final.error
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%v)", context.Cause(ctx), last)
		case <-time.After(min(max(time.Since(began)/20, minPause), maxPause)):
		}
	}
}

// ask sends a GET and returns nil on status 200, without reading the whole answer. It returns a
// refusal if the client isn't allowed to ask.
func ask(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := get(ctx, client, url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
	err = fmt.Errorf("GET %s: %s: %s", url, resp.Status, strings.TrimSpace(string(text)))
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return refusal{err}
	}
	return err
}

func get(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// unusedConns are the connections without any request yet. http.Server's Shutdown gives each of
// them five seconds, and clients that dial ahead always have some.
type unusedConns struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{} // mu guards it
	closed bool                  // mu guards it
}

func (u *unusedConns) note(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.conns, conn)
	case u.closed:
		conn.Close()
	default:
		if u.conns == nil {
			u.conns = map[net.Conn]struct{}{}
		}
		u.conns[conn] = struct{}{}
	}
}

func (u *unusedConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.conns {
		conn.Close()
	}
}
