// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// startServer starts a server with two Pods.
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
	fmt.Println(errors.Is(err, source.ErrMalformed))
	// Output:
	// Pod blue
	// Pod red
	// the list stands at 12
	// DELETED 13 red
	// BOOKMARK 20
	// watch pods/v1: event 3 (in namespace shop) at byte 345: malformed: the object has no metadata.name
	// true
}

// The metadata of a kind for which there is no Go type, without managedFields.
func ExampleNew_metadata() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Println("asked for", strings.ReplaceAll(req.Header.Get("Accept"), ",", "\n          "))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"12"},"items":[
			{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"blue","namespace":"shop","resourceVersion":"7",
			 "labels":{"size":"L"},"annotations":{"note":"long","owner":"ann"},"managedFields":[{"manager":"kubectl"}]}}]}`)
	}))
	defer server.Close()
	client, err := source.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	widgets := schema.GroupVersionResource{Group: "samples.io", Version: "v1", Resource: "widgets"}
	metadata, err := source.New[*metav1.PartialObjectMetadata](client, widgets, source.Options{
		Kind:              "Widget",
		Formats:           []source.Format{source.Protobuf, source.JSON},
		DropManagedFields: true,
		DropAnnotations:   []string{"note"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = metadata.List(context.Background(), source.ListOptions{}, func(m *metav1.PartialObjectMetadata) error {
		fmt.Println(m.APIVersion, m.Kind, m.Name, m.Labels, m.Annotations, len(m.ManagedFields))
		return nil
	})
	fmt.Println(err)
	// Output:
	// asked for application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1
	//           application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1;q=0.9
	//           application/json;q=0.8
	// samples.io/v1 Widget blue map[size:L] map[owner:ann] 0
	// <nil>
}

// Errors name the step, the place and the reason.
func ExampleDecodeError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>Please log in.</html>")
	}))
	defer server.Close()
	client, err := source.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	pods, err := source.New[*corev1.Pod](client, corev1.SchemeGroupVersion.WithResource("pods"), source.Options{Formats: []source.Format{source.JSON}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = pods.List(context.Background(), source.ListOptions{}, func(*corev1.Pod) error { return nil })
	fmt.Println(err)
	var decode *source.DecodeError
	fmt.Println(errors.As(err, &decode), errors.Is(err, source.ErrWrongFormat))
	// Output:
	// list pods/v1: at byte 0: wrong format: the server answers with "text/html", is this the address of a Kubernetes API?; want application/json
	// true true
}
