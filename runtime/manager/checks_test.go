// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/manager"
)

// checks are those of Options.
type checks = map[string]func(*http.Request) error

func succeed(*http.Request) error { return nil }

func TestChecks(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		down := errors.New("dial https://me:secret@db.test: refused")
		database := func(*http.Request) error { return down }
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{r.recording("a")}
			o.HealthChecks = checks{"ping": succeed, "database": database}
			o.ReadyChecks = checks{"ping": succeed, "database": database, "broken": func(*http.Request) error { panic("no such table") }}
		})
		checkBody := func(path string, code int, want string) {
			t.Helper()
			got, body := get(m.Manager, path)
			same(t, path, got, code)
			same(t, path, body, want)
		}
		checkBody("/healthz", 500, "[-]database: "+down.Error()+"\nhealthz check failed\n")
		checkBody("/healthz?verbose", 500, "[+]a ok\n[+]ping ok\n[-]database: "+down.Error()+"\nhealthz check failed\n")
		checkBody("/healthz/ping", 200, "ok\n")
		checkBody("/healthz/database", 500, "[-]database: "+down.Error()+"\nhealthz check failed\n")
		checkBody("/healthz/z", 404, "manager: healthz z: no check has this name; there are a, database, ping\n")
		checkBody("/readyz", 503, "[-]broken: it has panicked: no such table\n[-]database: "+down.Error()+"\nreadyz check failed\n")
		checkBody("/readyz/controllers", 200, "ok\n")
		checkBody("/readyz/z", 404, "manager: readyz z: no check has this name; there are broken, controllers, database, informers, ping\n")
		for path, want := range map[string]string{
			"/healthz?verbose": "[+]a ok\n[+]ping ok\n[-]database\nhealthz check failed\n",
			"/readyz":          "[-]broken\n[-]database\nreadyz check failed\n",
			"/readyz/database": "[-]database\nreadyz check failed\n",
		} {
			same(t, path+" from elsewhere", getRemotely(m.Manager, path).Body.String(), want)
		}
		down = nil
		checkBody("/healthz?verbose", 200, "[+]a ok\n[+]database ok\n[+]ping ok\nok\n")
		checkBody("/readyz", 503, "[-]broken: it has panicked: no such table\nreadyz check failed\n")
		checkBody("/readyz/database", 200, "ok\n")
	})
}

// TestHangingCheck: a request waits until its context is done, and the next one for nothing. Other
// checks are not affected.
func TestHangingCheck(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release, calls := make(chan struct{}), 0
		m := r.run(func(o *manager.Options) {
			o.HealthChecks = checks{"hangs": func(*http.Request) error {
				calls++
				<-release
				return nil
			}, "ping": succeed}
		})
		ask := func(path string) string {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			req := httptest.NewRequestWithContext(ctx, "GET", path, nil)
			req.RemoteAddr, req.Host = "127.0.0.1:4711", "localhost:8080"
			w := httptest.NewRecorder()
			m.Handler().ServeHTTP(w, req)
			return w.Body.String()
		}
		start := time.Now()
		same(t, "the first request", ask("/healthz?verbose"), "[+]ping ok\n[-]hangs: it has not returned for 1s: context deadline exceeded\nhealthz check failed\n")
		same(t, "it takes", time.Since(start), time.Second)
		same(t, "one check", ask("/healthz/ping"), "ok\n")
		pass(9 * time.Second)
		start = time.Now()
		same(t, "the next request", ask("/healthz/hangs"), "[-]hangs: it has not returned for 10s: context deadline exceeded\nhealthz check failed\n")
		same(t, "it takes", time.Since(start), time.Duration(0))
		same(t, "calls", calls, 1)
		close(release)
		synctest.Wait()
		same(t, "after it has returned", ask("/healthz/hangs"), "ok\n")
		same(t, "calls", calls, 2)
		same(t, "Run", m.End(), errStop)
	})
}

// TestRunWaitsForChecks: until ShutdownTimeout.
func TestRunWaitsForChecks(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			o.ShutdownTimeout = 5 * time.Second
			o.ReadyChecks = checks{"hangs": func(*http.Request) error {
				<-release
				return nil
			}}
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/readyz", nil))
		start := time.Now()
		wantError(t, m.End(), "manager: Run: check hangs has not returned: ShutdownTimeout of 5s has passed")
		same(t, "the end takes", time.Since(start), 5*time.Second)
		close(release)
		synctest.Wait()
	})
}

func TestWrongChecks(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		_, err := manager.New(manager.Options{
			Config: r.config, Factory: r.factory,
			Controllers:  []manager.Descriptor{r.recording("a", func(d *manager.Descriptor) { d.Aliases = []string{"old-a"} })},
			HealthChecks: checks{"": succeed, "a": succeed, "x/y": succeed, "nil": nil, "informers": succeed},
			ReadyChecks:  checks{"old-a": nil, "informers": succeed, "controllers": succeed},
		})
		wantError(t, err, `manager.New: HealthChecks: check "": invalid name; a name must not be empty or *, begin with -, or contain a slash, a blank or a comma
HealthChecks: check "a": a controller has this name; choose another one
HealthChecks: check "nil": the function is nil
HealthChecks: check "x/y": invalid name; a name must not be empty or *, begin with -, or contain a slash, a blank or a comma
ReadyChecks: check "controllers": the manager has a check of this name; choose another one
ReadyChecks: check "informers": the manager has a check of this name; choose another one
ReadyChecks: check "old-a": the function is nil
ReadyChecks: check "old-a": a controller has this name; choose another one`)
	})
}
