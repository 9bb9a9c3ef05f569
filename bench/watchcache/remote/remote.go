// SPDX-License-Identifier: Apache-2.0

// Package remote has servers of widgets in this process, ours and an API server, and their clients
// in another one, so that the time that this process takes is the server's.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/watchcache/local"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/server/serve"
)

// Devserver is the side of an API server.
const Devserver harness.Side = "devserver"

// Server serves widgets.
type Server interface {
	// URL returns where the widgets of all namespaces are.
	URL() string
	// Prepare makes the next n changes ready. They go around the widgets.
	Prepare(n int)
	// Change makes the next change that is ready.
	Change() error
	// Close ends the server, and waits for that.
	Close() error
}

// Serve returns a server of widgets.
func Serve(ctx context.Context, side harness.Side, widgets widget.Set) (Server, error) {
	switch side {
	case harness.Ours:
		return serveOurs(ctx, widgets)
	case Devserver:
		return serveAPI(ctx, widgets)
	}
	return nil, fmt.Errorf("there is no server of %s", side)
}

// handler is a handler of ours over a watch cache.
type handler struct {
	*local.Ours
	server *http.Server
	url    string
	done   chan error
}

func serveOurs(ctx context.Context, widgets widget.Set) (*handler, error) {
	cache, err := local.NewOurs(ctx, widgets)
	if err != nil {
		return nil, err
	}
	h, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widget.Resource, Kind: widget.Kind.Kind, Namespaced: true,
		Fields: []string{widget.NodeField}, Cache: cache.Cache,
	}}})
	if err != nil {
		cache.Close()
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cache.Close()
		return nil, err
	}
	s := &handler{cache, serve.NewServer(h), "http://" + l.Addr().String(), make(chan error, 1)}
	go func() { s.done <- s.server.Serve(l) }()
	return s, nil
}

// URL implements [Server].
func (h *handler) URL() string { return h.url + widget.Path }

// Change implements [Server].
func (h *handler) Change() error {
	h.Ours.Change()
	return nil
}

// Close implements [Server].
func (h *handler) Close() error {
	err := h.server.Close()
	h.Ours.Close()
	if ended := <-h.done; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// api is an API server.
type api struct {
	server  *devserver.Server
	client  *http.Client
	widgets widget.Set
	changes int // made so far
}

// writers is how many requests there are at once while widgets are created.
const writers = 4

func serveAPI(ctx context.Context, widgets widget.Set) (a *api, err error) {
	crds, err := widget.CRDs()
	if err != nil {
		return nil, err
	}
	a = &api{widgets: widgets, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}}
	if a.server, err = devserver.Start(ctx, devserver.Options{CRDs: crds}); err != nil {
		return nil, err
	}
	creating, ctx := errgroup.WithContext(ctx)
	creating.SetLimit(writers)
	for i := range widgets.Len {
		creating.Go(func() error {
			return a.do(ctx, http.MethodPost, a.collection(i)+"?fieldManager=widget-operator", "application/json", widgets.JSON(i, 0))
		})
	}
	if err := creating.Wait(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *api) collection(i int) string {
	return a.server.URL() + widget.CollectionPath(i)
}

func (a *api) do(ctx context.Context, method, url, contentType string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: the server answers %s: %s", method, url, resp.Status, text)
	}
	return err
}

// URL implements [Server].
func (a *api) URL() string { return a.server.URL() + widget.Path }

// Prepare implements [Server]. A request is made when it is wanted.
func (a *api) Prepare(int) {}

// Change implements [Server].
func (a *api) Change() error {
	a.changes++
	i := a.changes % a.widgets.Len
	patch := fmt.Appendf(nil, `{"spec":{"size":%d}}`, a.changes)
	return a.do(context.Background(), http.MethodPatch, a.collection(i)+"/"+widget.Name(i), "application/merge-patch+json", patch)
}

// Close implements [Server].
func (a *api) Close() error {
	a.client.CloseIdleConnections()
	return a.server.Close()
}
