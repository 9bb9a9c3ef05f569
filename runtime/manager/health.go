// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"errors"
	"fmt"
	"net/http"
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

// ready returns an error unless all informers have synced, all running controllers have begun to
// reconcile, and none has failed. So a process that does not lead can be ready. Like inspect.Ready
// it shows no errors, since everyone may ask.
func (m *Manager) ready(req *http.Request) error {
	select {
	case <-m.informersStarted:
	default:
		return errors.New("not ready: the controllers are not built")
	}
	if err := inspect.Ready(m.options.Factory)(req); err != nil {
		return err
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
