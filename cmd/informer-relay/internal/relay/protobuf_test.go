// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestProtobuf serves Pods in protobuf to an informer, and refuses a client that accepts only JSON.
func TestProtobuf(t *testing.T) {
	s := newAPIServer(t, "ann watch pods in", "ann list pods in")
	s.pods.Create(pod("shop", "web"))
	r := s.start(t, configOf(t, `
	listen: {address: 127.0.0.1:0}
	access: {mode: SelfSubjectAccessReview}
	resources: [{version: v1, resource: pods, protobuf: true, selectableFields: [spec.nodeName], drop: [.metadata.managedFields]}]
	shutdown: {delay: 0s, period: 0s}`))
	r.await(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ann")
	req.Header.Set("Accept", "application/json")
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotAcceptable {
		t.Errorf("Accept: application/json: got %s, want 406", resp.Status)
	}

	reader, err := source.NewClient(&rest.Config{Host: r.url, Transport: client(t).Transport, BearerToken: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.New[*corev1.Pod](reader, corev1.SchemeGroupVersion.WithResource("pods"), source.Options{Formats: []source.Format{source.Protobuf}})
	if err != nil {
		t.Fatal(err)
	}
	i, err := informer.New(src)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	lease, err := i.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lease.Release(ctx); err != nil {
			t.Error(err)
		}
	}()
	if err := i.WaitForCacheSync(ctx); err != nil {
		t.Fatal(err)
	}
	if err := i.AwaitObject(ctx, s.pods.Create(pod("shop", "db"))); err != nil {
		t.Error(err)
	}
	if n := i.Store().Snapshot().Len(); n != 2 {
		t.Errorf("the informer has %d Pods, want 2", n)
	}
}

// TestProtobufRejectsUnknownField selects by a field whose protobuf number is unknown.
func TestProtobufRejectsUnknownField(t *testing.T) {
	r := newAPIServer(t).start(t, configOf(t, `
	listen: {address: 127.0.0.1:0}
	access: {mode: None}
	resources: [{version: v1, resource: pods, protobuf: true, selectableFields: [spec.priority]}]`))
	<-r.ended
	if err := r.stop(); err == nil || !strings.Contains(err.Error(), "spec.priority") {
		t.Errorf("Serve returned %v, want an error about spec.priority", err)
	}
}
