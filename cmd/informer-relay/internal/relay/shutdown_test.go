// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/internal/informertest"
)

// TestShutdown shows that readiness fails first while requests go on, and that watches then end
// without an error.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAPIServerAt(t, informertest.NewPipes())
		s.pods.Create(pod("shop", "web"))
		config := configOf(t, strings.Replace(tokens, "TokenReview", "None", 1))
		config.Shutdown.Delay, config.Shutdown.Period = time.Minute, 10*time.Second
		pipes := informertest.NewPipes()
		r := s.startAt(t, config, pipes)
		r.await(t)
		transport := &http.Transport{DialContext: pipes.Dial}
		defer transport.CloseIdleConnections()
		c := &http.Client{Transport: transport}
		resp := open(t, c, r.url+"/api/v1/pods?watch=true", "")
		defer resp.Body.Close()
		began := time.Now()
		var watched, stopped sync.WaitGroup
		watched.Go(func() {
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Errorf("the watch ended with %v", err)
			}
			if took := time.Since(began); took < config.Shutdown.Delay {
				t.Errorf("the watch ended after %v, want at least %v", took, config.Shutdown.Delay)
			}
		})
		stopped.Go(func() {
			if err := r.stop(); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		for _, pass := range []time.Duration{0, config.Shutdown.Delay - time.Millisecond} {
			time.Sleep(pass)
			if code, body := get(t, c, r.url+"/readyz", ""); code != 503 {
				t.Errorf("GET /readyz after %v: got %d %s, want 503", pass, code, body)
			}
			if code, body := get(t, c, r.url+"/api/v1/pods", ""); code != 200 {
				t.Errorf("a list after %v: got %d %s, want 200", pass, code, body)
			}
		}
		watched.Wait()
		stopped.Wait()
		if took := time.Since(began); took > config.Shutdown.Delay+config.Shutdown.Period+LastRequests {
			t.Errorf("the shutdown took %v, want at most %v, %v and %v together", took, config.Shutdown.Delay, config.Shutdown.Period, LastRequests)
		}
		synctest.Wait() // until the API server has seen its client go
		if n := s.watches.Load(); n != 0 {
			t.Errorf("the API server has %d open watches, want none", n)
		}
	})
}
