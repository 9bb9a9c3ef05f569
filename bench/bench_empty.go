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

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// emptyBench measures an informer of Pods, or one more namespace of one, if there are no Pods: two
// hundred of them on a server in memory, each with an open watch.
func emptyBench(name, title string, most limit, rigs func(s side, at quietServer, n int) ([]podRig, error)) bench {
	return bench{
		name:  "empty/" + name,
		title: func(sizes) string { return title },
		measures: []measure{
			{name: "goroutines", ratio: 1},
			{name: "heap and stacks", unit: inBytes, ratio: 1.2, limit: most},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			return func() (outcome, error) { return emptyOnce(e.side, 2*e.sizes.Idle, rigs) }, nil, nil
		},
	}
}

func emptyBenches() []bench {
	return []bench{
		emptyBench("informer", "an informer of Pods, of which there are none", limit{}, emptyInformers),
		emptyBench("namespace", "a namespace more, in which there are no Pods", atMost(15e3), emptyNamespaces),
	}
}

func emptyOnce(s side, n int, rigs func(s side, at quietServer, n int) ([]podRig, error)) (outcome, error) {
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
			stop, err := r.start()
			if err != nil {
				return 0, err
			}
			stops = append(stops, stop)
		}
		for _, r := range made {
			if err := waitSynced(r); err != nil {
				return 0, err
			}
			objects += sumUpPods(r.objects()).Objects
		}
		return objects, nil
	}
	// The first informers fill pools and caches of the process, which are not measured.
	if _, err := begin(2); err != nil {
		return outcome{}, err
	}
	before := footprint()
	objects, err := begin(n)
	if err != nil {
		return outcome{}, err
	}
	after := footprint()
	return outcome{Seen: seen{Objects: objects}, Values: map[string]float64{
		"goroutines":      (after.goroutines - before.goroutines) / float64(n),
		"heap and stacks": (after.bytes - before.bytes) / float64(n),
	}}, nil
}

// emptyInformers are n informers of all Pods.
func emptyInformers(s side, at quietServer, n int) ([]podRig, error) {
	if s == clientGo {
		return at.clientGo(make([]string, n))
	}
	client, err := source.NewClient(at.config())
	if err != nil {
		return nil, err
	}
	var rigs []podRig
	for range n {
		src, err := source.New[*corev1.Pod](client, pods.resource, source.Options{})
		if err != nil {
			return nil, err
		}
		i, err := informer.New(src)
		if err != nil {
			return nil, err
		}
		rigs = append(rigs, &ourRig[*corev1.Pod]{informer: i})
	}
	return rigs, nil
}

// emptyNamespaces is an informer of n namespaces, or with client-go one of each.
func emptyNamespaces(s side, at quietServer, n int) ([]podRig, error) {
	namespaces := make([]string, n)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("namespace-%d", i)
	}
	if s == clientGo {
		return at.clientGo(namespaces)
	}
	client, err := source.NewClient(at.config())
	if err != nil {
		return nil, err
	}
	f := informer.NewFactory(client)
	return []podRig{&ourRig[*corev1.Pod]{informer: informer.For[*corev1.Pod](f, pods.resource, informer.WithNamespaces(namespaces...))}}, nil
}

// quietServer is a transport to a server that has no Pods and never changes.
type quietServer struct{}

func (s quietServer) config() *rest.Config {
	return &rest.Config{Host: "http://quiet", Transport: s, QPS: -1}
}

// clientGo makes an informer of each namespace.
func (s quietServer) clientGo(namespaces []string) ([]podRig, error) {
	c, gv := s.config(), pods.resource.GroupVersion()
	c.GroupVersion, c.APIPath = &gv, pods.apiPath()
	c.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme, codecs).WithoutConversion()
	client, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("making client-go's client: %w", err)
	}
	var rigs []podRig
	for _, namespace := range namespaces {
		lw := cache.NewListWatchFromClient(client, pods.resource.Resource, namespace, fields.Everything())
		i := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, client), &corev1.Pod{}, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		rigs = append(rigs, &clientGoRig[*corev1.Pod]{informer: i})
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
