// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PagedPath before the path of a collection makes the server answer like one without a watch cache,
// which obeys a limit at resourceVersion 0, too.
const PagedPath = "/paged"

// WatchListQuery is the query of a watch-list, from any resourceVersion on.
const WatchListQuery = "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion="

// Serve is the main function of the process: it writes its address, and serves until its parent has
// ended.
func Serve(stdout io.Writer, orphaned <-chan struct{}) error {
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

// api answers list and watch requests for a world from bytes rendered before, as an API server
// does: lists at resourceVersion 0 whole, or below PagedPath in pages, others in pages;
// watch-lists; watches from the collection's resourceVersion on; 410 for others. It does not
// compress.
//
// It also obeys commands: show renders a world, and begin puts it into its first state. After move,
// open watches send the world's events, if it has any. Otherwise they end with 410, and lists and
// watches have the world's second state.
type api struct {
	mux *http.ServeMux

	mu          sync.Mutex // guards the fields below
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
	var what World
	var c map[string]*served
	err := json.NewDecoder(r.Body).Decode(&what)
	if err == nil {
		c, err = what.collections()
	}
	if err == nil {
		err = a.close() // of the previous world
		a.mu.Lock()
		a.collections = c
		a.mu.Unlock()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

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
	path, paged := strings.CutPrefix(r.URL.Path, PagedPath)
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

// send copies in large pieces, and reports whether the client has taken all.
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
	_ = json.NewEncoder(w).Encode(status) // an error means that the client is gone
}
