// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/inspect"
)

// Handler returns the handler served at Options.Address, for a program's own server. It may be used
// before and after Run.
func (m *Manager) Handler() http.Handler { return m.handler }

func (m *Manager) newHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", m.serveHealth)
	mux.HandleFunc("GET /healthz/{name}", m.serveHealth)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, req *http.Request) {
		if err := m.ready(req); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		writeText(w, "ok\n")
	})
	if h := m.options.MetricsHandler; h != nil {
		if m.options.AuthorizeMetrics != nil {
			h = authorized(m.options.AuthorizeMetrics, h)
		}
		mux.Handle("GET /metrics", h)
	}
	private := func(path string, h http.Handler) { mux.Handle(path, authorized(m.options.Authorize, h)) }
	private("GET /configz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, m.options.values()) }))
	private("/debug/informers", inspect.Handler(m.options.Factory, inspect.WithAuthorizer(m.options.Authorize), inspect.WithControllers(m.statusControllers)))
	private("GET /debug/controllers", http.HandlerFunc(m.listControllers))
	private("/debug/controllers/{name}", http.HandlerFunc(m.showController))
	private("/debug/controllers/{name}/", http.HandlerFunc(m.showController))
	private("/debug/pprof/", http.HandlerFunc(pprof.Index))
	private("/debug/pprof/cmdline", http.HandlerFunc(pprof.Cmdline))
	private("/debug/pprof/profile", http.HandlerFunc(pprof.Profile))
	private("/debug/pprof/symbol", http.HandlerFunc(pprof.Symbol))
	private("/debug/pprof/trace", http.HandlerFunc(pprof.Trace))
	return mux
}

// authorized passes requests to h for which rule returns nil. The status of the others is that of
// an API server's error, or else 403.
func authorized(rule func(*http.Request) error, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := rule(req); err != nil {
			code := http.StatusForbidden
			if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Code >= 400 {
				code = int(status.Status().Code)
			}
			w.Header().Set("Connection", "close") // so answers can't pile up unread
			http.Error(w, "manager: refused: "+err.Error(), code)
			return
		}
		h.ServeHTTP(w, req)
	})
}

func (m *Manager) serveHealth(w http.ResponseWriter, req *http.Request) {
	name, now := req.PathValue("name"), time.Now()
	units := m.units
	if name != "" {
		u, err := m.find(name)
		if err != nil {
			http.Error(w, "manager: healthz "+name+": "+err.Error(), http.StatusNotFound)
			return
		}
		units = []*unit{u}
	}
	var good, bad, why strings.Builder
	for _, u := range units {
		if err := u.health(now); err != nil {
			fmt.Fprintf(&bad, "[-]%s\n", u.Name)
			fmt.Fprintf(&why, "[-]%s: %v\n", u.Name, err)
		} else {
			fmt.Fprintf(&good, "[+]%s ok\n", u.Name)
		}
	}
	if !req.URL.Query().Has("verbose") {
		good.Reset()
	}
	switch {
	case bad.Len() == 0:
		writeText(w, good.String()+"ok\n")
	case m.options.Authorize(req) != nil:
		http.Error(w, good.String()+bad.String()+"healthz check failed", http.StatusInternalServerError)
	default:
		http.Error(w, good.String()+why.String()+"healthz check failed", http.StatusInternalServerError)
	}
}

func (m *Manager) statusControllers() (all []inspect.Controller) {
	for _, u := range m.units {
		if reports, ok := u.runnable().(inspect.Controller); ok {
			all = append(all, reports)
		}
	}
	return all
}

type controllerState struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// State is off, waiting (to lead, or to begin), running, done, failed or stopping.
	State string `json:"state"`
	Error string `json:"error,omitempty"`
}

func (u *unit) state() controllerState {
	s := controllerState{Name: u.Name, Aliases: u.Aliases, State: "waiting"}
	wanted, r := u.manager.isWanted(u), u.manager.runOf(u)
	switch over := r == nil || r.isDone(); {
	case !over && r.ctx.Err() != nil:
		s.State = "stopping"
	case !over:
		s.State = "running"
	case !wanted || u.runnable() == nil:
		s.State = "off"
	case r != nil && r.err != nil:
		s.State, s.Error = "failed", r.err.Error()
	case r != nil && r.ctx.Err() == nil:
		s.State = "done"
	}
	return s
}

func (m *Manager) listControllers(w http.ResponseWriter, _ *http.Request) {
	states := []controllerState{}
	for _, u := range m.units {
		states = append(states, u.state())
	}
	slices.SortFunc(states, func(a, b controllerState) int { return strings.Compare(a.Name, b.Name) })
	writeJSON(w, states)
}

func (m *Manager) showController(w http.ResponseWriter, req *http.Request) {
	name := req.PathValue("name")
	u, err := m.find(name)
	if err != nil {
		http.Error(w, "manager: controller "+name+": "+err.Error(), http.StatusNotFound)
		return
	}
	switch c := u.runnable().(type) {
	case http.Handler:
		http.StripPrefix("/debug/controllers/"+name, c).ServeHTTP(w, req)
	case inspect.Controller:
		writeJSON(w, c.Status())
	default:
		writeJSON(w, u.state())
	}
}

// response is the closed set of types for writeJSON, so nothing else is shown by accident.
type response interface {
	[]controllerState | controllerState | controller.Status | map[string]map[string]string
}

func writeJSON[T response](w http.ResponseWriter, value T) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, "manager: writing the response: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(append(text, '\n')) // fails only if the client is gone
}

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text)) // fails only if the client is gone
}
