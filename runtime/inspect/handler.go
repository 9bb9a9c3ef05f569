// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Option configures a [Handler].
type Option func(*server)

// WithAuthorizer replaces the default rule [FromThisMachine]. Requests are answered if allow
// returns nil, and get 403 with the error's text otherwise. allow is called on the server's
// goroutines, concurrently. A nil allow refuses all.
func WithAuthorizer(allow func(*http.Request) error) Option {
	if allow == nil {
		allow = func(*http.Request) error { return errors.New("the authorizer is nil; it refuses everything") }
	}
	return func(s *server) { s.allow = allow }
}

type server struct {
	// set once at construction
	factory     factories.SharedInformerFactory
	allow       func(*http.Request) error
	controllers []func() []Controller
	leadership  func() Leadership
	ring        Ring
	links       string // to controllers
}

// Handler returns a handler of GET requests that shows a factory's informers. Nil options are
// ignored, and a nil factory has no informers. It can be mounted under any path.
func Handler(factory factories.SharedInformerFactory, opts ...Option) http.Handler {
	s := &server{factory: factory, allow: FromThisMachine}
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if err := s.allow(req); err != nil {
		http.Error(w, "inspect: refused: "+err.Error(), http.StatusForbidden)
		return
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "inspect: only GET and HEAD are served here", http.StatusMethodNotAllowed)
		return
	}
	values := req.URL.Query()
	query := keyQuery{text: strings.TrimSpace(values.Get("key"))}
	code := http.StatusOK
	if query.text != "" {
		if query.key, query.err = object.ParseKey(query.text); query.err != nil {
			code = http.StatusBadRequest
		}
	}
	header.Add("Vary", "Accept")
	var body []byte
	var err error
	switch format := values.Get("format"); {
	case format == "json" || format == "" && !strings.Contains(req.Header.Get("Accept"), "text/html"):
		if query.err != nil {
			http.Error(w, "inspect: "+query.err.Error(), code)
			return
		}
		header.Set("Content-Type", "application/json")
		body, err = json.MarshalIndent(s.report(query, time.Now()), "", "  ")
	case format == "" || format == "html":
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("Referrer-Policy", "no-referrer")
		body = s.page(query, refreshOf(values.Get("refresh")))
	default:
		http.Error(w, fmt.Sprintf("inspect: format %q: want json or html", format), http.StatusBadRequest)
		return
	}
	if err != nil {
		http.Error(w, "inspect: writing the response: "+err.Error(), http.StatusInternalServerError)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	if req.Method == http.MethodGet {
		_, _ = w.Write(body) // fails only if the client is gone
	}
}

func (s *server) page(query keyQuery, refresh int) []byte {
	p := page{s.report(query, time.Now()), query.text, query.err, refresh, s.links}
	return []byte(p.markup())
}

// refreshes are the reload periods offered by the page, in seconds; 0 for never.
var refreshes = []int{0, 2, 10, 60}

// refreshOf parses the reload period in seconds; 0 means never.
func refreshOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0
	}
	return min(n, 3600)
}

type keyQuery struct {
	text string // "" if it is missing
	key  object.Key
	err  error // of parsing text
}
