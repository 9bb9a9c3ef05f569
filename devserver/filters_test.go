// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/devserver"
)

// request sends a request, and returns the answer with its body.
func request(t *testing.T, method, url string, header map[string]string, body []byte) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func TestCustomResourcesInProtobufAreRefused(t *testing.T) {
	t.Parallel()
	for _, builtIn := range []bool{false, true} {
		s := start(t, devserver.Options{BuiltInKinds: builtIn, CRDs: crds{boatCRD()}})
		create(t, s, "ada", "a")
		pod, err := newPod("ada").Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "harbour.example.com/v1", Kind: "Boat"}, Raw: pod}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body = append([]byte("k8s\x00"), body...)
		all := s.URL() + "/apis/harbour.example.com/v1/namespaces/default/boats"
		for method, url := range map[string]string{http.MethodPost: all, http.MethodPut: all + "/ada"} {
			resp, text := request(t, method, url, map[string]string{"Content-Type": runtime.ContentTypeProtobuf, "Accept": runtime.ContentTypeJSON}, body)
			if resp.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(text, "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml") {
				t.Errorf("%s in protobuf returns %s: %s", method, resp.Status, text)
			}
		}
		options := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
		raw, err := options.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body, err = (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Raw: raw}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		resp, text := request(t, http.MethodDelete, all+"/ada", map[string]string{"Content-Type": runtime.ContentTypeProtobuf}, append([]byte("k8s\x00"), body...))
		if resp.StatusCode != http.StatusOK {
			t.Errorf("DELETE with options in protobuf returns %s: %s", resp.Status, text)
		}
	}
}

func TestStreamsOfPodsAreRefused(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	for _, test := range []struct{ method, path, name string }{
		{http.MethodGet, "log?follow=true", "log"},
		{http.MethodPost, "exec?command=ls", "exec"},
		{http.MethodPost, "attach", "attach"},
		{http.MethodPost, "portforward", "portforward"},
		{http.MethodGet, "proxy/healthz", "proxy"},
	} {
		resp, text := request(t, test.method, s.URL()+"/api/v1/namespaces/default/pods/web/"+test.path, nil, nil)
		if resp.StatusCode != http.StatusNotImplemented || !strings.Contains(text, "devserver runs no containers, so it doesn't serve pods/"+test.name) {
			t.Errorf("%s %s returns %s: %s", test.method, test.path, resp.Status, text)
		}
	}
	only := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	if resp, text := request(t, http.MethodGet, only.URL()+"/api/v1/namespaces/default/pods/web/log", nil, nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without built-in kinds log returns %s: %s", resp.Status, text)
	}
}

func TestKubectlIsWarnedOfNoControllers(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	for _, test := range []struct {
		agent, query string
		warned       bool
	}{
		{"kubectl/v1.37.2", "?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dweb", true},
		{"kubectl/v1.37.2", "?watch=true&timeoutSeconds=1", false},
		{"kubectl/v1.37.2", "?fieldSelector=metadata.name%3Dweb", false},
		{"manager/v1", "?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dweb", false},
	} {
		resp, _ := request(t, http.MethodGet, s.URL()+"/apis/apps/v1/namespaces/default/deployments"+test.query, map[string]string{"User-Agent": test.agent}, nil)
		warning := resp.Header.Get("Warning")
		if strings.Contains(warning, "devserver runs no controllers: the status of deployments changes only when a client writes it") != test.warned {
			t.Errorf("%s %s is warned %q, want a warning: %v", test.agent, test.query, warning, test.warned)
		}
	}
}
