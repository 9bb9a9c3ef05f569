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

// noting is a transport that records the media types of what the server serves. It may refuse in
// any type: as text or JSON where a storage is not ready, for example.
type noting struct {
	*http.Transport
	mu    sync.Mutex // guards what follows
	types []string
}

func (n *noting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.Transport.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusOK {
		n.mu.Lock()
		n.types = append(n.types, resp.Header.Get("Content-Type"))
		n.mu.Unlock()
	}
	return resp, err
}

// onlyAnswersIn wants answers, all of them of one media type.
func (n *noting) onlyAnswersIn(t *testing.T, want string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.types) == 0 || slices.ContainsFunc(n.types, func(got string) bool { return !strings.HasPrefix(got, want) }) {
		t.Errorf("the server answers in %q, want %s", n.types, want)
	}
}

// connectNoting is connect with such a transport.
func connectNoting(t *testing.T, url string) (*source.Client, *noting) {
	t.Helper()
	transport := &noting{Transport: &http.Transport{}}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := source.NewClient(&rest.Config{Host: url, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return client, transport
}

const inProtobuf, inJSON = "application/vnd.kubernetes.protobuf", "application/json"

// formatReader is an informer of definitions that asks for a format.
type formatReader struct {
	name, want string // the media type of answers
	opts       []informer.Option
	informer   *informer.SharedIndexInformer[*apiextensionsv1.CustomResourceDefinition]
	history    *history[*apiextensionsv1.CustomResourceDefinition]
	answers    *noting
}

// A kind whose Go type has protobuf is read in both formats at once: the objects are the same.
func TestABuiltInKindInEachFormat(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var readers []formatReader
	for _, r := range []formatReader{
		{name: "protobuf", want: inProtobuf},
		{name: "protobuf, by pages", want: inProtobuf, opts: bothWays["pages"]},
		{name: "JSON", want: inJSON, opts: []informer.Option{informer.WithFormats(source.JSON)}},
	} {
		client, transport := connectNoting(t, c.url)
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
	in{c, crds, ""}.patch(t, "crates.harbour.example.com", `{"metadata":{"labels":{"tier":"gold"}},"spec":{"names":{"shortNames":["cr","box"]}}}`)
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
	now := in{c, crds, ""}.state(t)
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
		t.Errorf("%d definitions were compared, the server has %d", len(want), len(now))
	}
}
