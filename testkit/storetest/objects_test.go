// SPDX-License-Identifier: Apache-2.0

package storetest_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/storetest"
)

func thing(name, color string) storetest.Object {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"color": color}}}
}

func TestListersAndIndexesReadStore(t *testing.T) {
	byColor := store.NewIndex("ByColor", func(obj storetest.Object, keys []string) []string { return append(keys, obj.Labels["color"]) })
	one, two := thing("one", "blue"), thing("two", "red")
	s := storetest.New(t, one, two)
	things := lister.New(s, schema.GroupResource{Resource: "things"})
	if got, err := things.Namespace("shop").Get("one"); got != one || err != nil {
		t.Errorf("Get = %v, %v", got, err)
	}
	storetest.Set(t, s, thing("two", "blue"))
	var names []string
	for obj := range byColor.Lookup(s.Snapshot(), "blue") {
		names = append(names, obj.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"one", "two"}) {
		t.Errorf("the index returns %q for blue", names)
	}
}

// fatalTB records a call of Fatalf.
type fatalTB struct {
	testing.TB
	ended bool
}

func (f *fatalTB) Helper()               {}
func (f *fatalTB) Fatalf(string, ...any) { f.ended = true }

func TestObjectWithoutNameEndsTest(t *testing.T) {
	for name, wrong := range map[string]storetest.Object{"nil": nil, "nameless": thing("", "red")} {
		tb := &fatalTB{TB: t}
		s := storetest.New(tb, thing("one", "blue"), wrong)
		if !tb.ended || s.Snapshot().Len() != 0 {
			t.Errorf("%s: test ended %v, %d objects; want it ended without objects", name, tb.ended, s.Snapshot().Len())
		}
	}
}
