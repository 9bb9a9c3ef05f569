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

// projections returns projections: a generated one and random ones.
func projections() []reflect.Type {
	r := rand.New(rand.NewPCG(16, 3))
	types := []reflect.Type{reflect.TypeFor[placement.PodPlacement]()}
	for range 4 {
		types = append(types, podtest.Projection(r, reflect.TypeFor[corev1.Pod]()), podtest.Projection(r, reflect.TypeFor[appsv1.Deployment]()))
	}
	return types
}

// TestProjectionsSkipMissingFields decodes values of all kinds in missing and in present fields of
// a projection.
func TestProjectionsSkipMissingFields(t *testing.T) {
	s := newDecoderTest(t, reflect.TypeFor[placement.PodPlacement]())
	for i, value := range trickyValues {
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
	for _, pod := range encodedPods(50, false) {
		if !s.check(t, string(pod)) {
			t.Fatal("the object is declined")
		}
	}
	s.checkKept(t)
}

// TestSkippedPartsAreNotValidated has the cases of the package's documentation.
func TestSkippedPartsAreNotValidated(t *testing.T) {
	for _, tc := range []struct {
		name, skipped string
		accepted      bool
	}{
		{"an array", `[1, {"a": "]\"}"}, []]`, true},
		{"an invalid literal", `{"a": tru}`, true},
		{"an invalid escape", `{"a": "\q"}`, true},
		{"a control character", "{\"a\": \"\x01\"}", true},
		{"brackets of two kinds", `{"a": [1}]`, true},
		{"very deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), true},
		{"no end", `{"a": [1]`, false},
		{"a string without an end", `{"a": "b}`, false},
		{"an invalid literal alone", `tru`, false},
		{"an invalid number alone", `01`, false},
		{"nothing", ``, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newDecoderTest(t, reflect.TypeFor[placement.PodPlacement]())
			if got := s.check(t, `{"spec":{"volumes":`+tc.skipped+`,"nodeName":"n"}}`); got != tc.accepted {
				t.Errorf("accepted: %v, want %v", got, tc.accepted)
			}
		})
	}
}

type (
	// unusualProjection is a projection whose name and namespace are not plain strings.
	unusualProjection struct {
		Meta unusualMeta `json:"metadata"`
	}
	unusualMeta struct {
		apiobject.NoMeta
		Name      *string         `json:"name"`
		Namespace textUnmarshaler `json:"namespace"`
	}
)

func TestNamesOfAnyType(t *testing.T) {
	s := newDecoderTest(t, reflect.TypeFor[unusualProjection]())
	for _, text := range []string{
		`{"metadata":{"name":"n","namespace":"s"}}`, `{"metadata":{"name":null,"namespace":"s"}}`,
	} {
		if !s.check(t, text) {
			t.Errorf("%s is declined", text)
		}
	}
	s.checkKept(t)
}

// TestTruncatedProjections truncates a Pod at every byte.
func TestTruncatedProjections(t *testing.T) {
	s := newDecoderTest(t, reflect.TypeFor[placement.PodPlacement]())
	pod := encodedPods(1, false)[0]
	for i := range pod {
		if s.check(t, string(pod[:i])) {
			t.Fatalf("a decoder accepts %d of %d bytes", i, len(pod))
		}
	}
}

// FuzzProjection compares accepted input of projections with sigs.k8s.io/json, which decodes the
// input without the skipped parts.
func FuzzProjection(f *testing.F) {
	types := projections()
	subjects := make([]*decoderTest, len(types))
	for i, of := range types {
		subjects[i] = newDecoderTest(f, of)
		f.Add(uint8(i), string(encodedPods(i+1, true)[i]))
	}
	for i, value := range trickyValues {
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
