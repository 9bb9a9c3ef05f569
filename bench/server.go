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
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// server is the parent's handle of the process that serves a world. The zero value has no process
// yet.
type server struct {
	process *process
	address string
	shown   world
}

// show makes the server serve the world and returns its address.
func (s *server) show(w world) (address string, err error) {
	if s.process != nil && s.shown == w {
		return s.address, nil
	}
	s.stop() // and its files are gone
	if s.process, err = start(role{}, 0); err != nil {
		return "", err
	}
	line, err := s.process.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the server says no address: %w", errors.Join(err, s.process.wait()))
	}
	s.address, s.shown = "http://"+strings.TrimSpace(line), w
	return s.address, show(s.address, w)
}

func (s *server) stop() {
	if s.process != nil {
		s.process.stop()
	}
	*s = server{}
}

// show makes the server at that address render a world, and waits until it is served.
func show(address string, w world) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return command(address, "show", string(text))
}

// begin puts the world into its first state.
func begin(address string) error { return command(address, "begin", "") }

// move lets open watches send the world's events, if it has any. Else it puts the world into its
// second state, and ends open watches with 410.
func move(address string) error { return command(address, "move", "") }

// command sends a command to a server, and waits until it is done.
func command(address, name, body string) error {
	transport := &http.Transport{} // of its own, of which nothing is left
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post(address+"/"+name, "text/plain", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server answers %s to %s: %s", resp.Status, name, text)
	}
	return err
}

// pagedPath before the path of a collection makes the server answer as one without a watch cache,
// which obeys a limit at resourceVersion 0, too.
const pagedPath = "/paged"

// serve is the main function of the process: it writes its address, and serves until its parent has
// ended.
func serve(stdout io.Writer, orphaned <-chan struct{}) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, listener.Addr()); err != nil {
		return err
	}
	a := newAPI()
	s := &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
	closed := make(chan error, 1)
	go func() { // ends with orphaned, at the latest when the process does
		<-orphaned
		closed <- errors.Join(s.Close(), a.close())
	}()
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-closed
}

// api answers list and watch requests for what a world has from bytes that were rendered before, as
// an API server does: lists at resourceVersion 0 whole, or below pagedPath in pages, others in
// pages; watch-lists; watches from the collection's resourceVersion on; 410 for others. It does not
// compress. Beside that it obeys commands: show renders a world, and begin puts it into its first
// state. After move, open watches send the world's events, if it has any, and else end with 410,
// and what is listed and watched is its second state.
type api struct {
	mux *http.ServeMux

	mu          sync.Mutex // guards what follows
	collections map[string]*served
	moved       bool
	moving      chan struct{} // closed by move
}

func newAPI() *api {
	a := &api{mux: http.NewServeMux(), moving: make(chan struct{})}
	a.mux.HandleFunc("POST /show", a.show)
	a.mux.HandleFunc("POST /begin", func(http.ResponseWriter, *http.Request) { a.setMoved(false) })
	a.mux.HandleFunc("POST /move", func(http.ResponseWriter, *http.Request) { a.setMoved(true) })
	a.mux.HandleFunc("GET /", a.get)
	return a
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

func (a *api) show(w http.ResponseWriter, r *http.Request) {
	var what world
	var c map[string]*served
	err := json.NewDecoder(r.Body).Decode(&what)
	if err == nil {
		c, err = what.collections()
	}
	if err == nil {
		err = a.close() // of the world before
		a.mu.Lock()
		a.collections = c
		a.mu.Unlock()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// close removes the files.
func (a *api) close() (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.collections {
		err = errors.Join(err, s.close())
	}
	a.collections = nil
	return err
}

func (a *api) setMoved(moved bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if moved && !a.moved {
		close(a.moving)
	} else if !moved && a.moved {
		a.moving = make(chan struct{})
	}
	a.moved = moved
}

func (a *api) get(w http.ResponseWriter, r *http.Request) {
	path, paged := strings.CutPrefix(r.URL.Path, pagedPath)
	a.mu.Lock()
	s, moved, moving := a.collections[path], a.moved, a.moving
	a.mu.Unlock()
	if s == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no such resource: "+r.URL.Path)
		return
	}
	want, _, _ := strings.Cut(s.rendering.contentType(false), ";")
	if !strings.Contains(r.Header.Get("Accept"), want) {
		refuse(w, http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "there is only "+want)
		return
	}
	query := r.URL.Query()
	if query.Get("watch") != "" && query.Get("watch") != "false" {
		s.serveWatch(r.Context(), w, query, moved, moving)
		return
	}
	s.serveList(w, query, paged, moved)
}

func (s *served) serveList(w http.ResponseWriter, query url.Values, paged, moved bool) {
	n := s.items.len()
	from, err := strconv.Atoi("0" + query.Get("continue"))
	if err != nil || from > n {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "wrong continue token")
		return
	}
	limit, err := strconv.Atoi("0" + query.Get("limit"))
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "wrong limit")
		return
	}
	to, next := n, ""
	if limit > 0 && (paged || query.Get("resourceVersion") != "0") {
		to = min(n, from+limit)
	}
	if to < n {
		next = strconv.Itoa(to)
	}
	w.Header().Set("Content-Type", s.rendering.contentType(false))
	send(w, s.list(from, to, next, moved))
}

func (s *served) serveWatch(ctx context.Context, w http.ResponseWriter, query url.Values, moved bool, moving <-chan struct{}) {
	initial, err := s.initial(moved)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	switch {
	case query.Get("sendInitialEvents") == "true":
		if query.Get("allowWatchBookmarks") != "true" || query.Get("resourceVersionMatch") != string(metav1.ResourceVersionMatchNotOlderThan) {
			refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "a watch-list needs bookmarks and NotOlderThan")
			return
		}
	case query.Get("resourceVersion") == s.resourceVersion(moved):
		initial = strings.NewReader("")
	default:
		answer(w, http.StatusGone, expired())
		return
	}
	w.Header().Set("Content-Type", s.rendering.contentType(true))
	w.WriteHeader(http.StatusOK)
	if !send(w, initial) {
		return
	}
	if moved {
		moving = nil // it has
	}
	select {
	case <-ctx.Done():
		return
	case <-moving:
	}
	if n := s.later.len(); n > 0 {
		send(w, s.later.between(0, n))
		<-ctx.Done()
	} else if end, err := s.rendering.event(watch.Error, expired()); err == nil {
		send(w, bytes.NewReader(end))
	}
}

// send writes what is read in large pieces, and reports whether the client has taken all.
func send(w http.ResponseWriter, from io.Reader) bool {
	// Not by w.ReadFrom, which copies by 32 KB.
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, from, make([]byte, 256<<10))
	return err == nil && http.NewResponseController(w).Flush() == nil
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	answer(w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

func answer(w http.ResponseWriter, code int, status *metav1.Status) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status) // the client is gone, then
}
