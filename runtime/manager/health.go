// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/inspect"
)

const defaultLimit = 10 * time.Minute

type progress struct {
	mu    sync.Mutex // mu guards the fields below
	count int64
	since time.Time
}

// see records the current count, and returns when the last change was seen.
func (p *progress) observe(count int64, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || p.count != count {
		p.count, p.since = count, now
	}
	return p.since
}

func (u *unit) health(now time.Time) error {
	r := u.manager.runOf(u)
	if r == nil || !u.manager.isWanted(u) {
		return nil
	}
	if r.isDone() {
		if r.err != nil {
			return fmt.Errorf("Run has failed: %w", r.err)
		}
		return nil
	}
	reports, ok := u.runnable().(inspect.Controller)
	if !ok {
		return nil
	}
	status := reports.Status()
	return errors.Join(u.keyLimitError(&status, now), u.idleLimitError(&status, now))
}

func (u *unit) keyLimitError(s *controller.Status, now time.Time) error {
	limit := limitOf(u.KeyLimit)
	if limit < 0 || len(s.Queue.Running) == 0 {
		return nil
	}
	longest := s.Queue.Running[0]
	if took := now.Sub(longest.Since); took > limit {
		return fmt.Errorf("key %s has been running for %v; the limit is %v", longest.Key, took.Round(time.Millisecond), limit)
	}
	return nil
}

func (u *unit) idleLimitError(s *controller.Status, now time.Time) error {
	t := &s.Totals
	since := u.progress.observe(t.Succeeded+t.Again+t.Failed+t.Terminal, now)
	limit, oldest := limitOf(u.IdleLimit), s.Queue.Oldest
	if limit < 0 || oldest == nil || now.Sub(oldest.Since) <= limit || now.Sub(since) <= limit {
		return nil
	}
	return fmt.Errorf("no reconcile has ended for %v, and key %s has been ready for %v", now.Sub(since).Round(time.Millisecond), oldest.Key, now.Sub(oldest.Since).Round(time.Millisecond))
}

func limitOf(limit time.Duration) time.Duration {
	if limit == 0 {
		return defaultLimit
	}
	return limit
}

// part is a line of /healthz or /readyz.
type part struct {
	name    string
	aliases []string
	// start begins the check. wait returns its result.
	start  func(req *http.Request) (wait func() error)
	public bool // everyone may see its error
}

func (m *Manager) serveHealth(w http.ResponseWriter, req *http.Request) {
	var parts []part
	for _, u := range m.units {
		parts = append(parts, part{name: u.Name, aliases: u.Aliases, start: now(func(*http.Request) error { return u.health(time.Now()) })})
	}
	if m.options.Ring != nil {
		parts = append(parts, part{name: ringCheck, start: now(m.ringHealth)})
	}
	m.serveParts(w, req, "healthz", http.StatusInternalServerError, parts, m.health)
}

// serveReadiness answers 200 if all informers have synced, all running controllers have begun to
// reconcile, none has failed, and the process has joined the ring. So a process that does not lead
// can be ready.
func (m *Manager) serveReadiness(w http.ResponseWriter, req *http.Request) {
	parts := []part{
		{name: informersCheck, start: now(m.informersReady), public: true},
		{name: controllersCheck, start: now(m.controllersReady), public: true},
	}
	if m.options.Ring != nil {
		parts = append(parts, part{name: ringCheck, start: now(m.ringReady), public: true})
	}
	m.serveParts(w, req, "readyz", http.StatusServiceUnavailable, parts, m.readiness)
}

// now returns the start of a check that returns at once.
func now(run func(*http.Request) error) func(*http.Request) (wait func() error) {
	return func(req *http.Request) func() error { return func() error { return run(req) } }
}

// serveParts answers with the parts and checks, or with the one in the path. Their errors are for
// authorized requests.
func (m *Manager) serveParts(w http.ResponseWriter, req *http.Request, path string, failed int, parts []part, checks []*check) {
	for _, c := range checks {
		parts = append(parts, part{name: c.name, start: c.start})
	}
	if name := req.PathValue("name"); name != "" {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name || slices.Contains(p.aliases, name) })
		if i < 0 {
			http.Error(w, "manager: "+path+" "+name+": no check has this name; there are "+namesOfParts(parts), http.StatusNotFound)
			return
		}
		parts = parts[i : i+1]
	}
	waits := make([]func() error, len(parts))
	for n, p := range parts {
		waits[n] = p.start(req)
	}
	var good, bad, why strings.Builder
	for n, p := range parts {
		switch err := waits[n](); {
		case err == nil:
			fmt.Fprintf(&good, "[+]%s ok\n", p.name)
			continue
		case p.public:
			fmt.Fprintf(&bad, "[-]%s: %v\n", p.name, err)
			fmt.Fprintf(&why, "[-]%s: %v\n", p.name, err)
		default:
			fmt.Fprintf(&bad, "[-]%s\n", p.name)
			fmt.Fprintf(&why, "[-]%s: %v\n", p.name, err)
		}
	}
	if !req.URL.Query().Has("verbose") {
		good.Reset()
	}
	switch {
	case bad.Len() == 0:
		writeText(w, good.String()+"ok\n")
	case m.options.Authorize(req) != nil:
		http.Error(w, good.String()+bad.String()+path+" check failed", failed)
	default:
		http.Error(w, good.String()+why.String()+path+" check failed", failed)
	}
}

func namesOfParts(parts []part) string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

var errNotBuilt = errors.New("not ready: the controllers are not built")

func (m *Manager) built() bool {
	select {
	case <-m.informersStarted:
		return true
	default:
		return false
	}
}

// informersReady shows no error texts, since everyone may ask.
func (m *Manager) informersReady(req *http.Request) error {
	if !m.built() {
		return errNotBuilt
	}
	return inspect.Ready(m.options.Factory)(req)
}

// controllersReady shows names only, since everyone may ask.
func (m *Manager) controllersReady(*http.Request) error {
	if !m.built() {
		return errNotBuilt
	}
	var failed, missing []string
	for _, u := range m.units {
		reports, ok := u.runnable().(inspect.Controller)
		state := u.state().State
		switch r := m.runOf(u); {
		case state == "failed":
			failed = append(failed, u.Name)
		case state == "waiting" && r == nil && u.group == m.always: // Run is about to start it
			missing = append(missing, u.Name)
		case !ok || r == nil || r.isDone():
		case !reports.Status().Synced:
			missing = append(missing, u.Name)
		}
	}
	if failed != nil {
		return fmt.Errorf("not ready: controllers that have failed: %s", strings.Join(failed, ", "))
	}
	if missing != nil {
		return fmt.Errorf("not ready: controllers that have not begun to reconcile: %s", strings.Join(missing, ", "))
	}
	return nil
}
