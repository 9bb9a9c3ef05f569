// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	apiobject "github.com/informer-gen/informer-gen/runtime/object"
)

// slim are projections: one as the generator writes it, and some at random.
func slim() []reflect.Type {
	r := rand.New(rand.NewPCG(16, 3))
	types := []reflect.Type{reflect.TypeFor[placement.PodPlacement]()}
	for range 4 {
		types = append(types, podtest.Projection(r, reflect.TypeFor[corev1.Pod]()), podtest.Projection(r, reflect.TypeFor[appsv1.Deployment]()))
	}
	return types
}

// TestProjectionsSkipWhatTheyDoNotHave puts values of all kinds where a projection has no field,
// and where it has one.
func TestProjectionsSkipWhatTheyDoNotHave(t *testing.T) {
	s := newSubject(t, reflect.TypeFor[placement.PodPlacement]())
	for i, value := range tricky {
		for _, text := range []string{
			`{"other":%s,"spec":{"nodeName":"n"}}`,
			`{"spec":{"containers":%s,"nodeName":"n"},"status":{"phase":"Running"}}`,
			`{"metadata":{"annotations":{"a":%s},"name":"n","managedFields":[%[1]s]},"spec":{"nodeName":"n","volumes":[{"a":[[%[1]s]]}]}}`,
			`{"metadata":%s,"status":{"phase":"Running"}}`,
			`{"spec":{"other":%s,"other":%[1]s,"nodeName":%[1]s}}`,
		} {
			s.check(t, fmt.Sprintf(text, value))
			s.check(t, fmt.Sprintf(strings.ReplaceAll(text, ":", " : "), value))
		}
		if i%20 == 0 {
			s.checkKept(t)
		}
	}
	for _, pod := range somePods(50, false) {
		if !s.check(t, string(pod)) {
			t.Fatal("refused")
		}
	}
	s.checkKept(t)
}

// TestSkippedPartsAreNotValidated is what the package's documentation says of them.
func TestSkippedPartsAreNotValidated(t *testing.T) {
	for _, tc := range []struct {
		name, skipped string
		accepted      bool
	}{
		{"an array", `[1, {"a": "]\"}"}, []]`, true},
		{"a literal that is none", `{"a": tru}`, true},
		{"an escape that is none", `{"a": "\q"}`, true},
		{"a control character", "{\"a\": \"\x01\"}", true},
		{"brackets of two kinds", `{"a": [1}]`, true},
		{"very deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), true},
		{"no end", `{"a": [1]`, false},
		{"a string without an end", `{"a": "b}`, false},
		{"a literal that is none, by itself", `tru`, false},
		{"a number that is none, by itself", `01`, false},
		{"nothing", ``, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSubject(t, reflect.TypeFor[placement.PodPlacement]())
			if got := s.check(t, `{"spec":{"volumes":`+tc.skipped+`,"nodeName":"n"}}`); got != tc.accepted {
				t.Errorf("accepted: %v, want %v", got, tc.accepted)
			}
		})
	}
}

type (
	// unusual is a projection whose name and namespace are no plain strings.
	unusual struct {
		Meta unusualMeta `json:"metadata"`
	}
	unusualMeta struct {
		apiobject.NoMeta
		Name      *string `json:"name"`
		Namespace text    `json:"namespace"`
	}
)

func TestNamesOfAnyType(t *testing.T) {
	s := newSubject(t, reflect.TypeFor[unusual]())
	for _, text := range []string{
		`{"metadata":{"name":"n","namespace":"s"}}`, `{"metadata":{"name":null,"namespace":"s"}}`,
	} {
		if !s.check(t, text) {
			t.Errorf("%s is refused", text)
		}
	}
	s.checkKept(t)
}

// TestTruncatedProjections cuts a Pod everywhere.
func TestTruncatedProjections(t *testing.T) {
	s := newSubject(t, reflect.TypeFor[placement.PodPlacement]())
	pod := somePods(1, false)[0]
	for i := range pod {
		if s.check(t, string(pod[:i])) {
			t.Fatalf("accepted %d bytes of %d", i, len(pod))
		}
	}
}

// FuzzProjection holds that what a projection accepts is what sigs.k8s.io/json makes of the input
// without what is skipped.
func FuzzProjection(f *testing.F) {
	types := slim()
	subjects := make([]*subject, len(types))
	for i, of := range types {
		subjects[i] = newSubject(f, of)
		f.Add(uint8(i), string(somePods(i+1, true)[i]))
	}
	for i, value := range tricky {
		name, _ := json.Marshal([]string{"containers", "nodeName", "labels", "template", "replicas"}[i%5])
		text := `{"metadata":{"name":"n","labels":{"a":"b"},"annotations":` + value + `},"spec":{` + string(name) + `:` + value + `,"nodeName":"n","replicas":1},"status":` + value + `}`
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		s := subjects[int(kind)%len(subjects)]
		s.check(t, text)
		if len(s.kept) >= 500 || t.Failed() {
			s.checkKept(t)
		}
	})
}
