// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"

	"github.com/spf13/pflag"
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
	mux.HandleFunc("GET /readyz", m.serveReadiness)
	mux.HandleFunc("GET /readyz/{name}", m.serveReadiness)
	if h := m.options.MetricsHandler; h != nil {
		if m.options.AuthorizeMetrics != nil {
			h = authorized(m.options.AuthorizeMetrics, h)
		}
		mux.Handle("GET /metrics", h)
	}
	private := func(path string, h http.Handler) { mux.Handle(path, authorized(m.options.Authorize, h)) }
	private("GET /configz", showFlags(m.options.shownFlags()))
	private("/debug/informers", m.newPage())
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

func (m *Manager) newPage() http.Handler {
	options := []inspect.Option{
		inspect.WithAuthorizer(m.options.Authorize),
		inspect.WithControllers(m.statusControllers), inspect.WithControllerLinks("controllers/"),
	}
	if m.options.Election != nil {
		options = append(options, inspect.WithLeadership(m.leadership))
	}
	if m.options.Ring != nil {
		options = append(options, inspect.WithRing(m.options.Ring))
	}
	return inspect.Handler(m.options.Factory, options...)
}

func (m *Manager) leadership() inspect.Leadership {
	l := inspect.Leadership{Leading: m.options.Election.Leading()}
	if e, ok := m.options.Election.(interface{ Holder() string }); ok {
		l.Holder = e.Holder()
	}
	return l
}

func (m *Manager) statusControllers() (all []inspect.Controller) {
	for _, u := range m.units {
		if reports, ok := u.runnable().(inspect.Controller); ok {
			all = append(all, named{reports, u.Name})
		}
	}
	return all
}

// named is a controller with its name in the manager, which flags, health and paths have.
type named struct {
	inspect.Controller
	name string
}

func (n named) Status() controller.Status {
	s := n.Controller.Status()
	s.Name = n.name
	return s
}

type controllerState struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// State is off, waiting (to lead, to join the ring, or to begin), running, done, failed or
	// stopping.
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

func showFlags(flags []*pflag.Flag) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		values := map[string]string{}
		for _, f := range flags {
			values[f.Name] = f.Value.String()
		}
		writeJSON(w, values)
	})
}

// response is the closed set of types for writeJSON, so nothing else is shown by accident.
type response interface {
	[]controllerState | controllerState | controller.Status | map[string]string
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
