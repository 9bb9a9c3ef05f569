// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/handlers"
)

var eventEncoder = json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{})

// write runs an API server's handler that writes a watch until it ends.
func write(from watch.Interface, events func(int)) {
	s := &handlers.WatchServer{
		Watching:        from,
		Scope:           &handlers.RequestScope{Resource: widgetResource},
		MediaType:       runtime.ContentTypeJSON,
		Framer:          json.Framer,
		Encoder:         eventEncoder,
		EmbeddedEncoder: unstructured.UnstructuredJSONScheme,
		TimeoutFactory:  noTimeout{},
	}
	s.HandleHTTP(discardWriter{http.Header{}, events}, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: widgetPath}})
}

type noTimeout struct{}

// TimeoutCh implements handlers.TimeoutFactory.
func (noTimeout) TimeoutCh() (<-chan time.Time, func() bool) {
	return nil, func() bool { return false }
}

// discardWriter discards an answer. The handler writes each event at once.
type discardWriter struct {
	header http.Header
	events func(int)
}

// Header implements http.ResponseWriter.
func (d discardWriter) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d discardWriter) WriteHeader(int) {}

// Flush implements http.Flusher.
func (d discardWriter) Flush() {}

// Write implements http.ResponseWriter.
func (d discardWriter) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, []byte(`{"type":"BOOKMARK"`)) {
		d.events(1)
	}
	return len(p), nil
}
