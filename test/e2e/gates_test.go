// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// things are objects with any content.
var things = schema.GroupVersionResource{Group: "freeform.example.com", Version: "v1", Resource: "things"}

// createThing creates an object with any spec.
func (i in) createThing(t *testing.T, name string, spec map[string]any) {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "spec": spec}}
	u.SetAPIVersion(i.gvr.GroupVersion().String())
	u.SetKind("Thing")
	if _, err := i.client().Create(deadline(t), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// onlyCBOR asserts that a server has answered with CBOR and nothing else.
func (n *noting) onlyCBOR(t *testing.T) {
	t.Helper()
	answers := n.answers()
	if len(answers) == 0 {
		t.Error("the server was not asked")
	}
	for _, got := range answers {
		if !strings.HasPrefix(got, "application/cbor") {
			t.Errorf("the server has answered with %q", got)
		}
	}
}

// A server that has CBOR sends it when asked, for all Go types of custom resources: the objects are
// the same as from JSON.
func TestCBOR(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--feature-gates", "CBORServingAndStorage=true", "--crds", filepath.Join("testdata", "freeform"))
	inCBOR := []source.Format{source.CBOR, source.JSON}
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			ns := c.crates(t)
			free := in{c, things, ns.namespace}
			ns.createMany(t, 5, func(c *Crate, n int) {
				c.Labels = map[string]string{"parity": fmt.Sprint(n % 2)}
				c.Spec = CrateSpec{Ship: "Ärgö 🚢", Ports: []string{"Oslo", ""}[:n%3], Weight: math.MaxInt64 - int64(n)}
			})
			free.createThing(t, "numbers", map[string]any{
				"zero": int64(0), "min": int64(math.MinInt64), "past2to53": int64(1<<53 + 1), "half": 0.5, "huge": 1e300, "negative": -1.25,
			})
			free.createThing(t, "others", map[string]any{
				"": "an empty name", "null": nil, "yes": true, "no": false, "none": []any{}, "nothing": map[string]any{},
				"mixed": []any{int64(1), "two", nil, []any{false}, map[string]any{"a": []any{int64(-3)}}}, "time": "2026-11-20T12:00:00Z",
				"control": "\x00\x1f\"\\\u2028", "long": strings.Repeat("é", 70000),
			})

			client, transport := connectNoting(t, c.url)
			f := factories.New(client, append(opts, informer.WithNamespace(ns.namespace), informer.WithFormats(inCBOR...))...)
			typed := factories.For[*Crate](f, crates, informer.WithFormats(source.CBOR))
			untyped := factories.For[*unstructured.Unstructured](f, crates)
			freeform := factories.For[*unstructured.Unstructured](f, things)
			metadata := factories.ForMetadata(f, crates)
			slim := factories.For[*Crate](f, crates, informer.WithName("slim"), informer.WithoutManagedFields())
			typedHistory, _ := listen(t, typed)
			untypedHistory, _ := listen(t, untyped)
			freeformHistory, _ := listen(t, freeform)
			metadataHistory, _ := listen(t, metadata)
			slimHistory, _ := listen(t, slim)
			check := func() {
				t.Helper()
				want := ns.state(t)
				agree(t, want, typedHistory, typed.Store())
				agree(t, want, untypedHistory, untyped.Store())
				agree(t, want, metadataHistory, metadata.Store())
				agree(t, want, slimHistory, slim.Store())
				agree(t, free.state(t), freeformHistory, freeform.Store())
				sameObjects(t, ns.objects(t), untyped.Store())
				sameObjects(t, free.objects(t), freeform.Store())
				sameMetadata(t, ns.objects(t), "", metadata.Store())
				for key, u := range ns.objects(t) {
					want := asCrate(t, u)
					got, _ := typed.Store().Snapshot().Get(key)
					less, _ := slim.Store().Snapshot().Get(key)
					if fmt.Sprint(*got) != fmt.Sprint(*want) || got.Kind != "Crate" {
						t.Errorf("%s is\n%+v, want\n%+v", key, got, want)
					}
					if want.ManagedFields = nil; fmt.Sprint(*less) != fmt.Sprint(*want) {
						t.Errorf("without managed fields %s is\n%+v, want\n%+v", key, less, want)
					}
				}
			}
			runSynced(t, f)
			check()
			ns.load(t, "crate-000", 1)
			ns.patch(t, "crate-001", `{"spec":{"ports":null,"ship":null},"metadata":{"annotations":{"note":"ü"}}}`)
			ns.delete(t, "crate-002")
			ns.create(t, crate("new"))
			free.patch(t, "numbers", `{"spec":{"half":0.25,"zero":null,"more":[1,2.5,-3]}}`)
			free.delete(t, "others")
			check()
			if got := typedHistory.told()[5:]; !slices.Equal(got, []string{"update crate-000", "update crate-001", "delete crate-002", "add new"}) {
				t.Errorf("callbacks after the sync: %q", got)
			}
			transport.onlyCBOR(t)

			// Refusals come as CBOR too: one with a status, and the one inside of a watch.
			missing, err := source.New[*Crate](client, laterCrates, source.Options{Formats: inCBOR})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := missing.List(deadline(t), source.ListOptions{}, func(*Crate) error { return nil }); !apierrors.IsNotFound(err) {
				t.Errorf("a list of what is not installed gives %v", err)
			}
			old := ns.objects(t)[object.Key{Namespace: ns.namespace, Name: "crate-003"}].GetResourceVersion()
			if err := expireWatches(deadline(t), c); err != nil {
				t.Fatal(err)
			}
			s, err := source.New[*Crate](client, crates, source.Options{Namespace: ns.namespace, Formats: inCBOR})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Watch(deadline(t), source.WatchOptions{ResourceVersion: old}, nil, func(e source.Event[*Crate]) error {
				return fmt.Errorf("got %v of %v", e.Type, e.Object)
			})
			if !apierrors.IsResourceExpired(err) || reason.Of(err) != reason.Expired {
				t.Errorf("a watch from an old version gives %v, want 410", err)
			}
			ns.load(t, "crate-000", 2)
			check()
			transport.onlyCBOR(t)
		})
	}

	t.Run("a built-in kind in each format", func(t *testing.T) { compareFormats(t, c) })

	// The server still offers JSON.
	ns := c.crates(t)
	ns.createMany(t, 5)
	client, transport := connectNoting(t, c.url)
	s, err := source.New[*Crate](client, crates, source.Options{Namespace: ns.namespace, Formats: []source.Format{source.JSON}})
	if err != nil {
		t.Fatal(err)
	}
	if got := listAndWatch(t, s); len(got) != 5 {
		t.Errorf("as JSON there are %q", names(got))
	}
	if got := transport.answers(); !slices.Equal(got, []string{"application/json", "application/json"}) {
		t.Errorf("asked for JSON the server answers in %q", got)
	}
}

// compareFormats has one kind, whose Go type has protobuf, in all formats at once: the objects are
// the same.
func compareFormats(t *testing.T, c *cluster) {
	f := factories.New(connect(t, c.url), informer.WithoutManagedFields())
	definitions := map[string]*informer.SharedIndexInformer[*apiextensionsv1.CustomResourceDefinition]{}
	histories := map[string]*history[*apiextensionsv1.CustomResourceDefinition]{}
	answers := map[string]*noting{}
	for name, opts := range map[string][]informer.Option{
		"application/vnd.kubernetes.protobuf": nil,
		"application/cbor":                    {informer.WithFormats(source.CBOR)},
		"application/json":                    {informer.WithFormats(source.JSON)},
	} {
		client, transport := connectNoting(t, c.url)
		f := factories.New(client, informer.WithoutManagedFields())
		definitions[name] = factories.For[*apiextensionsv1.CustomResourceDefinition](f, crds, append(opts, factories.WithClusterScope())...)
		histories[name], _ = listen(t, definitions[name])
		answers[name] = transport
		runSynced(t, f)
	}
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
	for _, i := range definitions {
		if err := i.Until(deadline(t), established); err != nil {
			t.Fatal(err)
		}
	}
	now := in{c, crds, ""}.state(t)
	agree(t, now, h, metadata.Store())
	want := map[object.Key]string{}
	for name, i := range definitions {
		agree(t, now, histories[name], i.Store())
		for d := range i.Store().Snapshot().All() {
			if len(d.Spec.Versions) == 0 || d.Kind != "CustomResourceDefinition" || d.APIVersion != "apiextensions.k8s.io/v1" {
				t.Errorf("%s: got %+v", name, d)
			}
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			key := object.KeyOf(d)
			if want[key] == "" {
				want[key] = string(text)
			} else if diff := cmp.Diff(want[key], string(text)); diff != "" {
				t.Errorf("%s of %s differs (-another format +this):\n%s", key, name, diff)
			}
		}
		for _, got := range answers[name].answers() {
			if !strings.HasPrefix(got, name) {
				t.Errorf("the server answers with %q, want %s", got, name)
			}
		}
	}
	if len(want) != len(now) || len(want) < 6 {
		t.Errorf("%d definitions were compared, the server has %d", len(want), len(now))
	}
}

// Three replicas share the work by the objects' UIDs: each object is in exactly one of them, with
// all its events.
func TestShardsHaveEachObjectOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--feature-gates", "ShardedListAndWatch=true")
	ns := c.crates(t)
	ns.createMany(t, 30)
	bounds := []string{"0x0000000000000000", "0x5000000000000000", "0xa000000000000000", "0x10000000000000000"}
	var selectors []sharding.Selector
	for n := range 3 {
		selectors = append(selectors, sharding.NewSelector(sharding.ShardRangeRequirement{Key: "object.metadata.uid", Start: bounds[n], End: bounds[n+1]}))
	}
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			f := factories.New(connect(t, c.url), append(opts, informer.WithNamespace(ns.namespace))...)
			var shards []*informer.SharedIndexInformer[*Crate]
			var histories []*history[*Crate]
			for _, selector := range selectors {
				i := factories.For[*Crate](f, crates, informer.WithShardSelector(selector.String()))
				h, _ := listen(t, i)
				shards, histories = append(shards, i), append(histories, h)
			}
			runSynced(t, f)
			for n := range 30 {
				switch name := fmt.Sprintf("crate-%03d", n); n % 3 {
				case 0:
					ns.load(t, name, int64(n+1))
				case 1:
					ns.delete(t, name)
					ns.create(t, crate(name)) // with another UID, in another shard perhaps
				}
			}
			whole := ns.state(t)
			for n, i := range shards {
				want := state{}
				for key, u := range ns.objects(t) {
					if matches, err := selectors[n].Matches(u); err != nil {
						t.Fatal(err)
					} else if matches {
						want.put(u)
						delete(whole, key)
					}
				}
				if served := ns.state(t, metav1.ListOptions{ShardSelector: selectors[n].String()}); !maps.Equal(want, served) {
					t.Fatalf("the server sends %d objects of shard %d, want %d: it has no shards, so this test shows little", len(served), n, len(want))
				}
				agree(t, want, histories[n], i.Store())
			}
			if len(whole) > 0 {
				t.Errorf("in no shard: %v", whole)
			}
		})
	}
}
