// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/server/serve"
)

const lists = 10

func listBench() harness.Bench {
	return harness.Bench{
		Name: "list-of-all",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("a list of %d custom resources, beside the devserver", z.CRs)
		},
		Against: devSide,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			open := ourHandler
			if e.Side == devSide {
				open = devHandler
			}
			h, done, err := open(e.Sizes.CRs)
			return func() (harness.Outcome, error) {
				var written int64
				cost, err := probe.CostOf(func() (err error) {
					for range lists {
						n, e := ask(h, http.MethodGet, widgetPath+"?resourceVersion=0", nil)
						written, err = written+n, errors.Join(err, e)
					}
					return err
				})
				if size := int64(e.Sizes.CRs * lists * 1000); err == nil && written < size {
					err = fmt.Errorf("lists have %d bytes, want more than %d", written, size)
				}
				return harness.Outcome{Values: map[string]float64{"CPU time, per list": cost.Per(lists).CPU}}, err
			}, done, err
		},
	}
}

// ask makes a request of a handler, and returns the size of the answer in bytes.
func ask(h http.Handler, method, url string, body []byte) (int64, error) {
	req := httptest.NewRequest(method, url, bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	a := &answer{header: http.Header{}, code: http.StatusOK}
	h.ServeHTTP(a, req)
	if a.code >= http.StatusMultipleChoices {
		return 0, fmt.Errorf("%s %s: the answer is %d: %s", method, url, a.code, a.begin)
	}
	return a.bytes, nil
}

type answer struct {
	header http.Header
	code   int
	bytes  int64
	begin  []byte
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) { a.code = code }

// Flush implements http.Flusher.
func (a *answer) Flush() {}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	if a.bytes == 0 {
		a.begin = append(a.begin, p[:min(len(p), 300)]...)
	}
	a.bytes += int64(len(p))
	return len(p), nil
}

func ourHandler(widgets int) (http.Handler, func() error, error) {
	c, err := newOurs(widgets)
	if err != nil {
		return nil, nil, err
	}
	h, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widgetResource, Kind: widgetKind.Kind, Namespaced: true, Fields: []string{nodeField}, Cache: c.Cache,
	}}})
	return h, func() error { c.close(); return nil }, err
}

func devHandler(widgets int) (h http.Handler, done func() error, err error) {
	crds, err := devserver.ParseCRDs("crd.yaml", crd)
	if err != nil {
		return nil, nil, err
	}
	s, err := devserver.Start(context.Background(), devserver.Options{CRDs: crds, WrapHandler: func(next http.Handler) http.Handler {
		h = next
		return next
	}})
	if err != nil {
		return nil, nil, err
	}
	for i := range widgets {
		path := groupPath + "/namespaces/" + namespace(i) + "/widgets?fieldManager=widget-operator"
		if _, err := ask(h, http.MethodPost, path, widgetJSON(i, 0)); err != nil {
			return nil, s.Close, err
		}
	}
	return h, s.Close, nil
}
