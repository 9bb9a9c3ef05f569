// SPDX-License-Identifier: Apache-2.0

package main

import (
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

// emptyBench measures an informer of Pods, or one more namespace of one, if there are no Pods: two
// hundred of them on a server in memory, each with an open watch.
func emptyBench(name, title string, most harness.Limit, rigs func(s harness.Side, at quietServer, n int) ([]podRig, error)) harness.Bench {
	return harness.Bench{
		Name:  "empty/" + name,
		Title: func(harness.Sizes) string { return title },
		Measures: []harness.Measure{
			{Name: "goroutines", Ratio: 1},
			{Name: "heap and stacks", Unit: harness.Bytes, Ratio: 1.2, Limit: most},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return emptyOnce(e.Side, 2*e.Sizes.Idle, rigs) }, nil, nil
		},
	}
}

func emptyBenches() []harness.Bench {
	return []harness.Bench{
		emptyBench("informer", "an informer of Pods, of which there are none", harness.Limit{}, emptyInformers),
		emptyBench("namespace", "a namespace more, in which there are no Pods", harness.AtMost(15e3), emptyNamespaces),
	}
}

func emptyOnce(s harness.Side, n int, rigs func(s harness.Side, at quietServer, n int) ([]podRig, error)) (harness.Outcome, error) {
	var stops []func()
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	begin := func(n int) (objects int, err error) {
		made, err := rigs(s, quietServer{}, n)
		if err != nil {
			return 0, err
		}
		for _, r := range made {
			stop, err := r.Start()
			if err != nil {
				return 0, err
			}
			stops = append(stops, stop)
		}
		for _, r := range made {
			if err := rig.WaitSynced(r); err != nil {
				return 0, err
			}
			objects += rig.SumUpPods(r.Objects()).Objects
		}
		return objects, nil
	}
	// The first informers fill pools and caches of the process, which are not measured.
	if _, err := begin(2); err != nil {
		return harness.Outcome{}, err
	}
	before := probe.Footprint()
	objects, err := begin(n)
	if err != nil {
		return harness.Outcome{}, err
	}
	after := probe.Footprint()
	return harness.Outcome{Seen: harness.Seen{Objects: objects}, Values: map[string]float64{
		"goroutines":      (after.Goroutines - before.Goroutines) / float64(n),
		"heap and stacks": (after.Bytes - before.Bytes) / float64(n),
	}}, nil
}

// emptyInformers are n informers of all Pods.
func emptyInformers(s harness.Side, at quietServer, n int) ([]podRig, error) {
	if s == harness.ClientGo {
		return at.clientGo(make([]string, n))
	}
	client, err := source.NewClient(at.config())
	if err != nil {
		return nil, err
	}
	var rigs []podRig
	for range n {
		src, err := source.New[*corev1.Pod](client, data.Pods.Resource, source.Options{})
		if err != nil {
			return nil, err
		}
		i, err := informer.New(src)
		if err != nil {
			return nil, err
		}
		rigs = append(rigs, &rig.Ours[*corev1.Pod]{Informer: i})
	}
	return rigs, nil
}

// emptyNamespaces is an informer of n namespaces, or with client-go one of each.
func emptyNamespaces(s harness.Side, at quietServer, n int) ([]podRig, error) {
	namespaces := make([]string, n)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("namespace-%d", i)
	}
	if s == harness.ClientGo {
		return at.clientGo(namespaces)
	}
	client, err := source.NewClient(at.config())
	if err != nil {
		return nil, err
	}
	f := factories.New(client)
	return []podRig{&rig.Ours[*corev1.Pod]{Informer: factories.For[*corev1.Pod](f, data.Pods.Resource, informer.WithNamespace(namespaces...))}}, nil
}

// quietServer is a transport to a server that has no Pods and never changes.
type quietServer struct{}

func (s quietServer) config() *rest.Config {
	return &rest.Config{Host: "http://quiet", Transport: s, QPS: -1}
}

// clientGo makes an informer of each namespace.
func (s quietServer) clientGo(namespaces []string) ([]podRig, error) {
	c, gv := s.config(), data.Pods.Resource.GroupVersion()
	c.GroupVersion, c.APIPath = &gv, data.Pods.APIPath()
	c.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(data.Scheme, server.Codecs).WithoutConversion()
	client, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("making client-go's client: %w", err)
	}
	var rigs []podRig
	for _, namespace := range namespaces {
		lw := cache.NewListWatchFromClient(client, data.Pods.Resource.Resource, namespace, fields.Everything())
		i := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, client), &corev1.Pod{}, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		rigs = append(rigs, &rig.ClientGo[*corev1.Pod]{Informer: i})
	}
	return rigs, nil
}

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

// Close implements io.Closer. A client that stops reading cancels the request.
func (b *quietBody) Close() error { return nil }
