// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// A kind whose Go type has protobuf is read in both formats at once: the objects are the same.
func TestABuiltInKindInEachFormat(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	f := factories.New(connect(t, c.url), informer.WithoutManagedFields())
	definitions := map[string]*informer.SharedIndexInformer[*apiextensionsv1.CustomResourceDefinition]{}
	histories := map[string]*history[*apiextensionsv1.CustomResourceDefinition]{}
	answers := map[string]*noting{}
	for name, opts := range map[string][]informer.Option{
		"application/vnd.kubernetes.protobuf": nil,
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
	if len(want) != len(now) || len(want) < 5 {
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
