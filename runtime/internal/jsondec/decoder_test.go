// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// decoderTest decodes values of a type by all kinds of Decoders.
type decoderTest struct {
	t        reflect.Type
	table    *share.Table
	decoders map[string]*Decoder
	accepted int

	// decoded objects and their expected values, which later decoding must not change
	kept, want []any
}

func newDecoderTest(t testing.TB, of reflect.Type) *decoderTest {
	program, err := New(of, dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	s := &decoderTest{t: of, table: share.New(64 << 10)} // small, so it forgets parts
	s.decoders = map[string]*Decoder{
		"alone": program.NewDecoder(nil, false), "strings": program.NewDecoder(s.table, false),
		"shared": program.NewDecoder(s.table, true), "another": program.NewDecoder(s.table, true),
	}
	return s
}

// check compares the result of accepted text with sigs.k8s.io/json. For a projection, that decodes
// the text without the skipped parts. The end of a skipped part with invalid JSON is undefined, but
// must be the same for all Decoders.
func (s *decoderTest) check(t testing.TB, text string) (accepted bool) {
	t.Helper()
	want, whole, defined := reflect.New(s.t).Interface(), text, true
	if gotype.IsProjection(s.t) {
		whole, defined = podtest.WithoutSkipped(text, s.t, fieldType)
	}
	dec := sigsjson.NewDecoderCaseSensitivePreserveInts(strings.NewReader(whole))
	wantErr := dec.Decode(want)
	wantLen := int(dec.InputOffset()) + len(text) - len(whole)
	oks := 0
	for name, d := range s.decoders {
		for range 3 { // a part is entered the second time, and found the third time
			got := reflect.New(s.t).Interface()
			input := []byte(text)
			n, ok := d.Decode(input, got)
			clear(input) // the object must not refer to it
			if !ok {
				continue
			}
			oks++
			if !defined {
				continue
			}
			switch {
			case wantErr != nil:
				t.Errorf("%s accepts %.500q\nwant error %v", name, text, wantErr)
			case n != wantLen:
				t.Errorf("%s reads %d bytes of %.500q, want %d", name, n, text, wantLen)
			case !reflect.DeepEqual(want, got):
				t.Errorf("%s: %.500q\nwant %+v\ngot  %+v", name, text, want, got)
			}
			if len(s.kept) < 500 {
				s.kept, s.want = append(s.kept, got), append(s.want, want)
			}
		}
	}
	if oks != 0 && oks != 3*len(s.decoders) {
		t.Errorf("%d of %d decoders accept %.500q", oks, 3*len(s.decoders), text)
	}
	if oks > 0 {
		s.accepted++
	}
	return oks > 0
}

// fieldType returns the type of the field with a name, or nil.
func fieldType(t reflect.Type, name string) reflect.Type {
	for _, f := range gotype.Of(t).JSON() {
		if f.Name == name {
			return f.Type
		}
	}
	return nil
}

// checkKept verifies that the kept objects are unchanged.
func (s *decoderTest) checkKept(t testing.TB) {
	t.Helper()
	for i := range s.kept {
		if !reflect.DeepEqual(s.kept[i], s.want[i]) {
			t.Errorf("a decoded object has changed:\nwant %+v\ngot  %+v", s.want[i], s.kept[i])
		}
	}
	s.kept, s.want = nil, nil
}

func TestAcceptedInputAgreesWithSigsJSON(t *testing.T) {
	s := newDecoderTest(t, reflect.TypeFor[kitchenSink]())
	names := []string{"x", "y", "z", "w", "kind", "apiVersion", "unknown", "INT", "Metadata", "untagged", "-", "", "private", "Inline"}
	for f := range reflect.TypeFor[kitchenSink]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		names = append(names, name)
	}
	n := 0
	for _, name := range names {
		key, _ := json.Marshal(name)
		for i, value := range trickyValues {
			s.check(t, fmt.Sprintf(`{%s:%s}`, key, value))
			switch (i + n) % 3 { // a sample
			case 0:
				s.check(t, fmt.Sprintf(`{%s:%s,%s:%s}`, key, trickyValues[(i+7)%len(trickyValues)], key, value))
			case 1:
				s.check(t, fmt.Sprintf(`{"string":"before",%s:%s,"strings":["after"]}`, key, value))
			case 2:
				s.check(t, fmt.Sprintf(`{"self":{%s:%s},"selves":[{%s:%s},{"x":"a"}],"kmap":{"a":{%s:%s}}}`, key, value, key, value, key, value))
			}
			n += 2
		}
		s.checkKept(t)
	}
	if s.accepted < n/10 {
		t.Errorf("only %d of %d texts are accepted, want a tenth", s.accepted, n)
	}
	t.Logf("%d of %d texts are accepted", s.accepted, n)
}

func TestAPIObjectsAreAccepted(t *testing.T) {
	for _, unique := range []bool{false, true} {
		s := newDecoderTest(t, reflect.TypeFor[corev1.Pod]())
		for _, pod := range encodedPods(100, unique) {
			if !s.check(t, string(pod)) {
				t.Fatalf("declined Pod: %.500s", pod)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, pod, " ", "\t"); err != nil {
				t.Fatal(err)
			}
			if !s.check(t, indented.String()) {
				t.Fatalf("declined indented Pod: %.500s", indented.String())
			}
		}
		s.checkKept(t)
	}
	s := newDecoderTest(t, reflect.TypeFor[schema]())
	for n := range 4 {
		if !s.check(t, schemaText(n, 3)) {
			t.Fatal("the object is declined")
		}
	}
	s.checkKept(t)
}

// TestTruncatedObjects truncates a Pod at every byte.
func TestTruncatedObjects(t *testing.T) {
	d := mustProgram[corev1.Pod](t, dropped.Parts{}).NewDecoder(share.New(1<<20), true)
	pods := encodedPods(3, false)
	for _, pod := range pods {
		if _, ok := d.Decode(pod, &corev1.Pod{}); !ok {
			t.Fatal("the object is declined")
		}
	}
	for i := range pods[0] {
		if _, ok := d.Decode(pods[0][:i:i], &corev1.Pod{}); ok {
			t.Fatalf("Decode accepts %d of %d bytes", i, len(pods[0]))
		}
		if _, ok := Skip(pods[0][:i:i]); ok {
			t.Fatalf("Skip accepts %d of %d bytes", i, len(pods[0]))
		}
		for _, loose := range []bool{false, true} {
			if _, ok := ReadIdentity(pods[0][:i:i], Parts{Loose: loose, Controller: true}); ok {
				t.Fatalf("ReadIdentity accepts %d of %d bytes", i, len(pods[0]))
			}
		}
	}
}

func TestDeepNestingIsDeclined(t *testing.T) {
	d := mustProgram[kitchenSink](t, dropped.Parts{}).NewDecoder(nil, false)
	for _, parts := range [][2]string{{`{"self":`, `}`}, {`{"selves":[`, `]}`}, {`{"kmap":{"a":`, `}}`}, {`{"any":[`, `]}`}, {`{"unknown":[`, `]}`}} {
		for _, depth := range []int{100, 20000} {
			text := strings.Repeat(parts[0], depth) + "{}" + strings.Repeat(parts[1], depth)
			if _, ok := d.Decode([]byte(text), &kitchenSink{}); ok != (depth == 100) {
				t.Errorf("%q nested %d times: accepted %v", parts[0], depth, ok)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	types := []reflect.Type{
		reflect.TypeFor[kitchenSink](), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Node](), reflect.TypeFor[corev1.Service](),
		reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[schema](),
	}
	for i := range types {
		for _, text := range []string{string(encodedPods(1, false)[0]), string(encodedPods(2, true)[1]), schemaText(2, 1)} {
			f.Add(uint8(i), text)
		}
	}
	var names []string
	for field := range reflect.TypeFor[kitchenSink]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	for i, value := range trickyValues {
		key, _ := json.Marshal(names[i%len(names)])
		other, _ := json.Marshal(names[(i+5)%len(names)])
		// Each text is a seed for two types only: a fuzz target runs its seeds first, and a short
		// run has no time for more.
		text := `{"kind":"A",` + string(key) + `:` + value + `,` + string(other) + `:` + value + `}`
		f.Add(uint8(0), text)
		f.Add(uint8(1+i%(len(types)-1)), text)
		f.Add(uint8(0), `{`+string(key)+`:`+value+`,"self":{`+string(key)+`:`+trickyValues[(i+7)%len(trickyValues)]+`}}`)
	}
	subjects := make([]*decoderTest, len(types))
	for i, of := range types {
		subjects[i] = newDecoderTest(f, of)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		s := subjects[int(kind)%len(subjects)]
		s.check(t, text)
		if len(s.kept) >= 500 || t.Failed() {
			s.checkKept(t)
		}
	})
}
