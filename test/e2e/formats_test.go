// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// mediaTypeRecorder is a transport that records the media types of successful answers. A refusal
// may have any type: text or JSON if a storage is not ready, for example.
type mediaTypeRecorder struct {
	*http.Transport
	mu    sync.Mutex // guards types
	types []string
}

func (n *mediaTypeRecorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.Transport.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusOK {
		n.mu.Lock()
		n.types = append(n.types, resp.Header.Get("Content-Type"))
		n.mu.Unlock()
	}
	return resp, err
}

// onlyAnswersIn asserts that there are answers, all of one media type.
func (n *mediaTypeRecorder) onlyAnswersIn(t *testing.T, want string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.types) == 0 || slices.ContainsFunc(n.types, func(got string) bool { return !strings.HasPrefix(got, want) }) {
		t.Errorf("the server answers in %q, want only %s", n.types, want)
	}
}

// connectRecording is connect with a mediaTypeRecorder.
func connectRecording(t *testing.T, url string) (*source.Client, *mediaTypeRecorder) {
	t.Helper()
	transport := &mediaTypeRecorder{Transport: &http.Transport{}}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := source.NewClient(&rest.Config{Host: url, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return client, transport
}

const inProtobuf, inJSON = "application/vnd.kubernetes.protobuf", "application/json"

// formatReader is an informer of CRDs in one format.
type formatReader struct {
	name, want string // want is the media type of answers
	opts       []informer.Option
	informer   *informer.SharedIndexInformer[*apiextensionsv1.CustomResourceDefinition]
	history    *history[*apiextensionsv1.CustomResourceDefinition]
	answers    *mediaTypeRecorder
}

// TestBuiltInKindInEachFormat reads a kind that has protobuf in both formats at once: the objects
// are the same.
func TestBuiltInKindInEachFormat(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var readers []formatReader
	for _, r := range []formatReader{
		{name: "protobuf", want: inProtobuf},
		{name: "protobuf, by pages", want: inProtobuf, opts: listModes["pages"]},
		{name: "JSON", want: inJSON, opts: []informer.Option{informer.WithFormats(source.JSON)}},
	} {
		client, transport := connectRecording(t, c.url)
		f := factories.New(client, informer.WithoutManagedFields())
		r.informer = factories.For[*apiextensionsv1.CustomResourceDefinition](f, crds, append(r.opts, factories.WithClusterScope())...)
		r.history, _ = listen(t, r.informer)
		r.answers = transport
		runSynced(t, f)
		readers = append(readers, r)
	}
	f := factories.New(connect(t, c.url))
	metadata := factories.ForMetadata(f, crds, factories.WithClusterScope())
	h, _ := listen(t, metadata)
	runSynced(t, f)
	c.installLater(t)
	collection{c, crds, ""}.patch(t, "crates.harbour.example.com", `{"metadata":{"labels":{"tier":"gold"}},"spec":{"names":{"shortNames":["cr","box"]}}}`)
	established := func(s *store.Snapshot[*apiextensionsv1.CustomResourceDefinition]) (bool, error) {
		later, there := s.Get(object.Key{Name: "crates.later.example.com"})
		changed, _ := s.Get(object.Key{Name: "crates.harbour.example.com"})
		serves := there && slices.ContainsFunc(later.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		})
		return serves && len(changed.Status.AcceptedNames.ShortNames) == 2, nil
	}
	for _, r := range readers {
		if err := r.informer.Until(deadline(t), established); err != nil {
			t.Fatal(err)
		}
	}
	now := collection{c, crds, ""}.state(t)
	agree(t, now, h, metadata.Store())
	want := map[object.Key]string{}
	for _, r := range readers {
		agree(t, now, r.history, r.informer.Store())
		r.answers.onlyAnswersIn(t, r.want)
		for d := range r.informer.Store().Snapshot().All() {
			if len(d.Spec.Versions) == 0 || d.Kind != "CustomResourceDefinition" || d.APIVersion != "apiextensions.k8s.io/v1" {
				t.Errorf("%s: got %+v", r.name, d)
			}
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			key := object.KeyOf(d)
			if want[key] == "" {
				want[key] = string(text)
			} else if diff := cmp.Diff(want[key], string(text)); diff != "" {
				t.Errorf("%s of %s differs (-another format +this):\n%s", key, r.name, diff)
			}
		}
	}
	if len(want) != len(now) || len(want) < 4 {
		t.Errorf("compared %d CRDs, the server has %d", len(want), len(now))
	}
}
