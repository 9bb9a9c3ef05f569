// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type informerGroup struct {
	// set once at construction
	informers []*informer.SharedIndexInformer[*unstructured.Unstructured]
	handled   chan struct{} // has an element for each handler call

	mu     sync.Mutex
	events [][]string // mu guards it: the events of each informer
}

func startInformers(ctx context.Context, address string, n int) (g *informerGroup, end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	end = func() {
		cancel()
		running.Wait()
	}
	g = &informerGroup{events: make([][]string, n), handled: make(chan struct{}, n)}
	for i := range n {
		informer, err := g.add(address, i)
		if err != nil {
			end()
			return nil, nil, err
		}
		running.Go(func() { _ = informer.Run(ctx) }) // the cause of ctx
	}
	return g, end, nil
}

func (g *informerGroup) add(address string, i int) (*informer.SharedIndexInformer[*unstructured.Unstructured], error) {
	src, err := collection(address)
	if err != nil {
		return nil, err
	}
	inf, err := informer.New(src)
	if err != nil {
		return nil, err
	}
	record := func(sign string, obj *unstructured.Unstructured) {
		g.mu.Lock()
		defer g.mu.Unlock()
		data, _, _ := unstructured.NestedString(obj.Object, "data", "text") // all have one
		g.events[i] = append(g.events[i], fmt.Sprintf("%s %s: %s", sign, obj.GetName(), data))
		g.handled <- struct{}{}
	}
	_, err = inf.AddEventHandler(informer.HandlerFuncs[*unstructured.Unstructured]{
		AddFunc:    func(obj *unstructured.Unstructured, _ bool) { record("+", obj) },
		UpdateFunc: func(_, obj *unstructured.Unstructured) { record("~", obj) },
		DeleteFunc: func(d informer.Deleted[*unstructured.Unstructured]) { record("-", d.Object) },
	})
	g.informers = append(g.informers, inf)
	return inf, err
}

func collection(address string) (*source.HTTP[*unstructured.Unstructured], error) {
	client, err := source.NewClient(&rest.Config{Host: address, Transport: &http.Transport{}})
	if err != nil {
		return nil, err
	}
	return source.New[*unstructured.Unstructured](client, configMaps, source.Options{Namespace: "default"})
}

func (g *informerGroup) waitForSync(ctx context.Context) error {
	for _, i := range g.informers {
		if err := i.WaitForCacheSync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// waitForHandlers waits for one more call of each informer's handler. A second write before that
// could be merged with the first.
func (g *informerGroup) waitForHandlers(ctx context.Context) error {
	for range g.informers {
		select {
		case <-g.handled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (g *informerGroup) recordedEvents() [][]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	events := make([][]string, len(g.events))
	for i := range events {
		events[i] = slices.Clone(g.events[i])
	}
	return events
}

type author struct {
	configMaps *source.HTTP[*unstructured.Unstructured]
}

func newAuthor(address string) (*author, error) {
	configMaps, err := collection(address)
	return &author{configMaps}, err
}

// playScript creates, changes and deletes a ConfigMap, and waits after each step until all handlers
// have been called.
func (a *author) playScript(ctx context.Context, g *informerGroup, name string) error {
	for _, step := range []struct{ method, text string }{
		{http.MethodPost, "hello"},
		{http.MethodPut, "hello again"},
		{http.MethodDelete, ""},
	} {
		if err := a.do(ctx, step.method, name, step.text); err != nil {
			return err
		}
		if err := g.waitForHandlers(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *author) write(ctx context.Context, name string) error {
	return a.do(ctx, http.MethodPost, name, "written while there was no relay")
}

func (a *author) do(ctx context.Context, method, name, text string) error {
	request := source.Request{Method: method, Key: object.Key{Namespace: "default"}}
	if method != http.MethodPost {
		request.Key.Name = name
	}
	if method != http.MethodDelete {
		request.Object = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": name}, "data": map[string]any{"text": text},
		}}
	}
	_, err := a.configMaps.Do(ctx, request)
	return err
}
