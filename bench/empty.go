// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// emptyBench measures one more namespace without Pods: ours belong to one informer, client-go's are
// an informer each.
func emptyBench() harness.Bench {
	return harness.Bench{
		Name:  "empty-namespace",
		Title: func(harness.Sizes) string { return "a namespace more, in which there are no Pods" },
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) {
			var stops []func()
			defer func() {
				for _, stop := range stops {
					stop()
				}
			}()
			begin := func(n int) (err error) {
				rigs, err := emptyNamespaces(e.Side, n)
				for _, r := range rigs {
					stop, e := r.Start()
					stops = append(stops, stop)
					err = errors.Join(err, e)
				}
				for _, r := range rigs {
					err = errors.Join(err, rig.WaitSynced(r))
				}
				return err
			}
			// The first informers fill pools and caches of the process, which are not measured.
			if err := begin(2); err != nil {
				return harness.Outcome{}, err
			}
			before := probe.Footprint()
			err := begin(e.Sizes.Idle)
			after := probe.Footprint()
			return harness.Outcome{Values: map[string]float64{"heap and stacks": (after - before) / float64(e.Sizes.Idle)}}, err
		}),
	}
}

func emptyNamespaces(s harness.Side, n int) (rigs []podRig, err error) {
	namespaces := make([]string, n)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("namespace-%d", i)
	}
	config := &rest.Config{Host: "http://quiet", Transport: quietServer{}, QPS: -1}
	if s == harness.Ours {
		client, err := source.NewClient(config)
		if err != nil {
			return nil, err
		}
		i := factories.For[*corev1.Pod](factories.New(client), data.Pods.Resource, informer.WithNamespace(namespaces...))
		return []podRig{&rig.Ours[*corev1.Pod]{Informer: i}}, nil
	}
	config.GroupVersion, config.APIPath = &corev1.SchemeGroupVersion, data.Pods.APIPath()
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(data.Scheme, server.Codecs).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	for _, namespace := range namespaces {
		lw := cache.NewListWatchFromClient(client, data.Pods.Resource.Resource, namespace, fields.Everything())
		i := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, client), &corev1.Pod{}, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		rigs = append(rigs, &rig.ClientGo[*corev1.Pod]{Informer: i})
	}
	return rigs, nil
}

type quietServer struct{}

// RoundTrip implements http.RoundTripper.
func (quietServer) RoundTrip(req *http.Request) (*http.Response, error) {
	const (
		list     = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
		bookmark = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	)
	body := &quietBody{}
	switch query := req.URL.Query(); {
	case query.Get("watch") == "":
		body.text.Reset(list)
	default:
		if query.Get("sendInitialEvents") == "true" {
			body.text.Reset(bookmark)
		}
		body.until = req.Context().Done()
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Body: body,
		Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}},
	}, nil
}

// quietBody is a text that doesn't end until the request is cancelled, if it can be.
type quietBody struct {
	text  strings.Reader
	until <-chan struct{}
}

// Read implements io.Reader.
func (b *quietBody) Read(p []byte) (int, error) {
	if b.text.Len() > 0 {
		return b.text.Read(p)
	}
	if b.until != nil {
		<-b.until
	}
	return 0, io.EOF
}

// Close implements io.Closer. A client cancels its request to stop reading.
func (b *quietBody) Close() error { return nil }
