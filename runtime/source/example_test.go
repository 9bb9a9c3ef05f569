// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// startServer stands for an API server that has two Pods.
func startServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if req.URL.Query().Get("watch") == "" {
			io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[
				{"metadata":{"name":"blue","namespace":"shop","resourceVersion":"7"}},
				{"metadata":{"name":"red","namespace":"shop","resourceVersion":"9"}}]}`)
			return
		}
		io.WriteString(w, `{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"red","namespace":"shop","resourceVersion":"13"}}}
			{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"20"}}}
			{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"shop","resourceVersion":"21"}}}`)
	}))
}

func Example() {
	server := startServer()
	defer server.Close()
	client, err := source.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	pods, err := source.New[*corev1.Pod](client, corev1.SchemeGroupVersion.WithResource("pods"), source.Options{Namespace: "shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	list, err := pods.List(ctx, source.ListOptions{}, func(p *corev1.Pod) error {
		fmt.Println(p.Kind, p.Name)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the list stands at", list.ResourceVersion)

	err = pods.Watch(ctx, source.WatchOptions{ResourceVersion: list.ResourceVersion}, nil, func(e source.Event[*corev1.Pod]) error {
		if e.Type == source.Bookmark {
			fmt.Println(e.Type, e.ResourceVersion)
			return nil
		}
		fmt.Println(e.Type, e.ResourceVersion, e.Object.Name)
		return nil
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, source.ErrNoName))
	// Output:
	// Pod blue
	// Pod red
	// the list stands at 12
	// DELETED 13 red
	// BOOKMARK 20
	// watch pods/v1: event 3 (in namespace shop) at byte 345: no metadata.name: the object can't be kept without it
	// true
}
