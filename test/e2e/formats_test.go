// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// definition is the part of a CustomResourceDefinition, a built-in kind, that every API type with
// protobuf has.
type definition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
}

func (d *definition) DeepCopyObject() runtime.Object {
	return &definition{d.TypeMeta, *d.ObjectMeta.DeepCopy()}
}

func (d *definition) Reset() { *d = definition{} }

func (d *definition) Marshal() ([]byte, error) {
	return (&metav1.PartialObjectMetadata{ObjectMeta: d.ObjectMeta}).Marshal()
}

func (d *definition) Unmarshal(data []byte) error {
	var m metav1.PartialObjectMetadata
	err := m.Unmarshal(data)
	d.ObjectMeta = m.ObjectMeta
	return err
}

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

// answers returns the media types of the answers so far, and forgets them.
func (n *noting) answers() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() { n.types = nil }()
	return n.types
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

// listAndWatch lists, then watches from the beginning until every listed object has come and a
// bookmark has ended the initial events.
func listAndWatch[T object.Object](t *testing.T, s source.Source[T]) (listed []T) {
	t.Helper()
	result, err := s.List(deadline(t), source.ListOptions{}, func(obj T) error { listed = append(listed, obj); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if result.ResourceVersion == "" {
		t.Error("the list has no version")
	}
	var watched []T
	enough := errors.New("enough")
	err = s.Watch(deadline(t), source.WatchOptions{SendInitialEvents: true}, nil, func(e source.Event[T]) error {
		if e.Type == source.Bookmark && e.InitialEventsEnd {
			return enough
		}
		if e.Type != source.Added {
			return fmt.Errorf("got %v before the end of the initial events", e.Type)
		}
		watched = append(watched, e.Object)
		return nil
	})
	if err != enough {
		t.Fatal(err)
	}
	if got, want := names(watched), names(listed); !slices.Equal(got, want) {
		t.Errorf("the watch has %v, the list %v", got, want)
	}
	return listed
}

func checkTypes[T object.Object](t *testing.T, objs []T, want schema.GroupVersionKind) {
	t.Helper()
	for _, obj := range objs {
		if got := obj.GetObjectKind().GroupVersionKind(); got != want {
			t.Errorf("%s says it is %v, want %v", obj.GetName(), got, want)
		}
	}
}

// Built-in kinds come in protobuf if their type has it, from a server that is asked for it first.
func TestBuiltinKindsInProtobuf(t *testing.T) {
	t.Parallel()
	client, transport := connectNoting(t, shared.url)
	for _, formats := range [][]source.Format{nil, {source.Protobuf}, {source.JSON}} {
		s, err := source.New[*definition](client, crds, source.Options{Kind: "CustomResourceDefinition", Formats: formats, DropManagedFields: true})
		if err != nil {
			t.Fatal(err)
		}
		got := listAndWatch(t, s)
		checkTypes(t, got, crds.GroupVersion().WithKind("CustomResourceDefinition"))
		if !slices.Contains(names(got), crates.Resource+"."+crates.Group) {
			t.Errorf("%v: got %v", formats, names(got))
		}
		for _, d := range got {
			if d.ManagedFields != nil || d.UID == "" || d.CreationTimestamp.IsZero() {
				t.Errorf("%v: got %+v", formats, d.ObjectMeta)
			}
		}
		want := []string{"application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch"}
		if slices.Equal(formats, []source.Format{source.JSON}) {
			want = []string{"application/json", "application/json"}
		}
		if got := transport.answers(); !slices.Equal(got, want) {
			t.Errorf("%v: the server answers in %q, want %q", formats, got, want)
		}
	}
}

// The metadata of custom resources comes alone, and in protobuf, too.
func TestMetadataOfCustomResources(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 7, func(c *Crate, n int) {
		c.Labels = map[string]string{"n": fmt.Sprint(n)}
		c.Spec.Ship = "Argo"
	})
	client, transport := connectNoting(t, shared.url)
	for _, tc := range []struct {
		opts source.Options
		want schema.GroupVersionKind
		list string
	}{
		{source.Options{}, schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}, "application/vnd.kubernetes.protobuf"},
		{source.Options{Kind: "Crate"}, crates.GroupVersion().WithKind("Crate"), "application/vnd.kubernetes.protobuf"},
		{source.Options{Kind: "Crate", Formats: []source.Format{source.JSON}}, crates.GroupVersion().WithKind("Crate"), "application/json"},
	} {
		tc.opts.Namespace = ns.namespace
		s, err := source.New[*metav1.PartialObjectMetadata](client, crates, tc.opts)
		if err != nil {
			t.Fatal(err)
		}
		got := listAndWatch(t, s)
		checkTypes(t, got, tc.want)
		have := state{}
		for _, m := range got {
			have.put(m)
			if m.Labels["n"] == "" {
				t.Errorf("%s has labels %v", m.Name, m.Labels)
			}
		}
		if want := ns.state(t); len(have) != 7 || fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", have, want)
		}
		if got := transport.answers(); len(got) != 2 || got[0] != tc.list {
			t.Errorf("the server answers in %q, want %s", got, tc.list)
		}
	}
}

// A server chooses among the formats asked for, and refuses if there is none for it.
func TestFormatsThatTheServerDoesNotHave(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 2)
	client, transport := connectNoting(t, shared.url)
	opts := source.Options{Namespace: ns.namespace, Kind: "Crate"}
	s, err := source.New[*unstructured.Unstructured](client, crates, opts)
	if err != nil {
		t.Fatal(err)
	}
	checkTypes(t, listAndWatch(t, s), crates.GroupVersion().WithKind("Crate"))
	if got := transport.answers(); !slices.Equal(got, []string{"application/json", "application/json"}) {
		t.Errorf("the server answers in %q", got)
	}
}

// Shards of a server that ignores their selector are disjoint, and together they are everything.
func TestShardsOfAServerWithoutThem(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 30)
	client := connect(t, shared.url)
	var all []string
	for _, bounds := range []string{"'0x0000000000000000', '0x8000000000000000'", "'0x8000000000000000', '0x10000000000000000'"} {
		s, err := source.New[*Crate](client, crates, source.Options{Namespace: ns.namespace, ShardSelector: "shardRange(object.metadata.uid, " + bounds + ")"})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names(listAndWatch(t, s))...)
	}
	slices.Sort(all)
	if want := ns.names(t, metav1.ListOptions{}); !slices.Equal(all, want) {
		t.Errorf("the shards have %v, want %v", all, want)
	}
}

// With the feature switched on, the server divides custom resources.
func TestShardsOfAServerThatHasThem(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--feature-gates", "ShardedListAndWatch=true")
	ns := c.crates(t)
	ns.createMany(t, 20, func(c *Crate, n int) {
		c.Labels = map[string]string{"n": fmt.Sprint(n)}
		c.Annotations = map[string]string{"dropped": "x", "kept": "y"}
		c.Spec = CrateSpec{Ship: "Argo", Ports: []string{"Oslo", "Kiel"}, Weight: int64(n)}
	})
	client := connect(t, c.url)
	opts := source.Options{Namespace: ns.namespace, Kind: "Crate", DropManagedFields: true, DropAnnotations: []string{"dropped"}}
	var all []string
	for _, bounds := range []string{"'0x0000000000000000', '0x8000000000000000'", "'0x8000000000000000', '0x10000000000000000'"} {
		opts.ShardSelector = "shardRange(object.metadata.uid, " + bounds + ")"
		s := newSource[*Crate](t, client, opts)
		part, err := c.dynamic.Resource(crates).Namespace(ns.namespace).List(deadline(t), metav1.ListOptions{ShardSelector: opts.ShardSelector})
		if err != nil {
			t.Fatal(err)
		}
		got := names(listAndWatch(t, s))
		if len(part.Items) != len(got) || len(got) == 20 {
			t.Errorf("the server divides off %d objects, the source %d", len(part.Items), len(got))
		}
		all = append(all, got...)
	}
	slices.Sort(all)
	if want := ns.names(t, metav1.ListOptions{}); !slices.Equal(all, want) {
		t.Errorf("the shards have %v, want %v", all, want)
	}
}

func newSource[T object.Object](t *testing.T, client *source.Client, opts source.Options) source.Source[T] {
	t.Helper()
	s, err := source.New[T](client, crates, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
