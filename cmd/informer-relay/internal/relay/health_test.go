// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

func TestStateOf(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	failed := errors.New("secret reason")
	for _, test := range []struct {
		state metrics.CacheState
		ok    bool
		text  string
	}{
		{metrics.CacheState{}, false, "not synced"},
		{metrics.CacheState{Err: failed}, false, "not synced: the API server can't be read; the log has the reason"},
		{metrics.CacheState{Ready: true, LastEvent: ago(2 * time.Second), Objects: 3, Version: 7}, true, "synced: 3 objects at version 7; last event 2s ago"},
		{metrics.CacheState{Ready: true, LastEvent: ago(time.Minute), Err: failed}, true, "synced: 0 objects at version 0; last event 1m0s ago"},
		{metrics.CacheState{Ready: true, LastEvent: ago(61 * time.Second), Version: 7}, false, "stale: no event or bookmark for 1m1s; reads go on at version 7"},
	} {
		if ok, text := stateOf(test.state, now, time.Minute); ok != test.ok || text != test.text {
			t.Errorf("stateOf(%+v) = %v, %q; want %v, %q", test.state, ok, text, test.ok, test.text)
		}
	}
}

// TestProbesAtConnectionLimit shows that probes are answered at their own address when the relay's
// connections are at their limit.
func TestProbesAtConnectionLimit(t *testing.T) {
	s := newAPIServer(t)
	config := configOf(t, tokens)
	config.Limits.Connections = 1
	r := s.start(t, config)
	r.await(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The first connection is counted before the second one is accepted.
	if resp, err := client(t).Get(r.url + "/healthz"); err == nil {
		resp.Body.Close()
		t.Fatalf("the second connection got %s, want it closed", resp.Status)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer r.ServeProbes(l)()
	for path, want := range map[string]int{"/healthz": 200, "/livez": 200, "/readyz": 200, "/api/v1/pods": 404, "/metrics": 404} {
		if code, body := get(t, client(t), "http://"+l.Addr().String()+path, ""); code != want {
			t.Errorf("GET %s: got %d %s, want %d", path, code, body, want)
		}
	}
}
