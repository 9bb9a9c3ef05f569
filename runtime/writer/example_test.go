// SPDX-License-Identifier: Apache-2.0

package writer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// startServer starts a server with one Widget, at resourceVersion 9.
func startServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		stored := blue(func(w *Widget) { w.ResourceVersion = "9" })
		if req.Method == http.MethodPut {
			sent := &Widget{}
			_ = json.NewDecoder(req.Body).Decode(sent)
			if sent.ResourceVersion != "9" {
				refusal := apierrors.NewConflict(widgets.GroupResource(), "blue", errors.New("it is at 9")).Status()
				refusal.APIVersion, refusal.Kind = "v1", "Status"
				w.WriteHeader(http.StatusConflict)
				_ = json.NewEncoder(w).Encode(refusal)
				return
			}
			stored.Status, stored.ResourceVersion = sent.Status, "10"
		}
		_ = json.NewEncoder(w).Encode(stored)
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
	widgets, err := writer.New[*Widget](client, widgets, writer.Options{FieldManager: "shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	cached := blue() // as in an informer behind the server
	run := func(w *Widget) error {
		w.Status.Phase = "Running"
		return nil
	}

	cached = cached.DeepCopyObject().(*Widget)
	_ = run(cached)
	_, _, err = widgets.UpdateStatus(ctx, cached)
	fmt.Println("conflict:", apierrors.IsConflict(err))

	written, token, err := widgets.MutateStatus(ctx, blue(), run)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(written.Name, written.Status.Phase, token.ResourceVersion, token.Gone)

	// Nothing is left to do.
	_, token, err = widgets.MutateStatus(ctx, written, run)
	fmt.Println(token.ResourceVersion, err)
	// Output:
	// conflict: true
	// blue Running 10 false
	// 10 <nil>
}

// A delete has the UID of its object.
func ExampleWriter_Delete() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var options metav1.DeleteOptions
		_ = json.NewDecoder(req.Body).Decode(&options)
		fmt.Println(req.Method, req.URL.Path, "with UID", *options.Preconditions.UID)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	}))
	defer server.Close()
	client, err := source.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	widgets, err := writer.New[*Widget](client, widgets, writer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := widgets.Delete(context.Background(), blue(), metav1.DeleteOptions{})
	fmt.Println(token.Key, "is gone:", token.Gone, err)
	// Output:
	// DELETE /apis/samples.io/v1/namespaces/shop/widgets/blue with UID u1
	// shop/blue is gone: true <nil>
}
