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

// subject decodes values of a type in all ways.
type subject struct {
	t        reflect.Type
	table    *share.Table
	decoders map[string]*Decoder
	accepted int

	// kept are objects that were decoded, and what they have to be whatever is decoded after them.
	kept, want []any
}

func newSubject(t testing.TB, of reflect.Type) *subject {
	program, err := New(of, dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{t: of, table: share.New(64 << 10)} // small, so that it forgets
	s.decoders = map[string]*Decoder{
		"alone": program.NewDecoder(nil, false), "strings": program.NewDecoder(s.table, false),
		"shared": program.NewDecoder(s.table, true), "another": program.NewDecoder(s.table, true),
	}
	return s
}

// check: what is accepted is what sigs.k8s.io/json makes of it, or, for a projection, what it makes
// of the text without what is skipped. Where a projection finds the end of what is no JSON is not
// defined, but all decoders find the same.
func (s *subject) check(t testing.TB, text string) (accepted bool) {
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
		for range 3 { // the second time a part is entered, the third time it is found
			got := reflect.New(s.t).Interface()
			input := []byte(text)
			n, ok := d.Decode(input, got)
			clear(input) // nothing may refer to it
			if !ok {
				continue
			}
			oks++
			if !defined {
				continue
			}
			switch {
			case wantErr != nil:
				t.Errorf("%s accepted %.500q\nsigs.k8s.io/json says %v", name, text, wantErr)
			case n != wantLen:
				t.Errorf("%s read %d bytes of %.500q, sigs.k8s.io/json %d", name, n, text, wantLen)
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

// checkKept: objects are what they were.
func (s *subject) checkKept(t testing.TB) {
	t.Helper()
	for i := range s.kept {
		if !reflect.DeepEqual(s.kept[i], s.want[i]) {
			t.Errorf("changed afterwards:\nwant %+v\ngot  %+v", s.want[i], s.kept[i])
		}
	}
	s.kept, s.want = nil, nil
}

func TestWhatIsAcceptedIsDecodedAsBySigs(t *testing.T) {
	s := newSubject(t, reflect.TypeFor[kitchen]())
	names := []string{"x", "y", "z", "w", "kind", "apiVersion", "unknown", "INT", "Metadata", "untagged", "-", "", "private", "Inline"}
	for f := range reflect.TypeFor[kitchen]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		names = append(names, name)
	}
	n := 0
	for _, name := range names {
		key, _ := json.Marshal(name)
		for i, value := range tricky {
			s.check(t, fmt.Sprintf(`{%s:%s}`, key, value))
			switch (i + n) % 3 { // a third is plenty
			case 0:
				s.check(t, fmt.Sprintf(`{%s:%s,%s:%s}`, key, tricky[(i+7)%len(tricky)], key, value))
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
		t.Errorf("only %d of %d texts are accepted", s.accepted, n)
	}
	t.Logf("%d of %d texts are accepted", s.accepted, n)
}

func TestObjectsOfTheAPIAreAccepted(t *testing.T) {
	for _, unique := range []bool{false, true} {
		s := newSubject(t, reflect.TypeFor[corev1.Pod]())
		for _, pod := range somePods(100, unique) {
			if !s.check(t, string(pod)) {
				t.Fatal("refused")
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, pod, " ", "\t"); err != nil {
				t.Fatal(err)
			}
			if !s.check(t, indented.String()) {
				t.Fatal("refused with white space")
			}
		}
		s.checkKept(t)
	}
	s := newSubject(t, reflect.TypeFor[schema]())
	for n := range 4 {
		if !s.check(t, crd(n, 3)) {
			t.Fatal("refused")
		}
	}
	s.checkKept(t)
}

// TestTruncatedObjects cuts a Pod everywhere.
func TestTruncatedObjects(t *testing.T) {
	d := mustProgram[corev1.Pod](t, dropped.Parts{}).NewDecoder(share.New(1<<20), true)
	pods := somePods(3, false)
	for _, pod := range pods {
		if _, ok := d.Decode(pod, &corev1.Pod{}); !ok {
			t.Fatal("refused")
		}
	}
	for i := range pods[0] {
		if _, ok := d.Decode(pods[0][:i:i], &corev1.Pod{}); ok {
			t.Fatalf("accepted %d bytes of %d", i, len(pods[0]))
		}
		if _, ok := Skip(pods[0][:i:i]); ok {
			t.Fatalf("skipped %d bytes of %d", i, len(pods[0]))
		}
		for _, loose := range []bool{false, true} {
			if _, ok := ReadIdentity(pods[0][:i:i], loose); ok {
				t.Fatalf("identified %d bytes of %d", i, len(pods[0]))
			}
		}
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	d := mustProgram[kitchen](t, dropped.Parts{}).NewDecoder(nil, false)
	for _, parts := range [][2]string{{`{"self":`, `}`}, {`{"selves":[`, `]}`}, {`{"kmap":{"a":`, `}}`}, {`{"any":[`, `]}`}, {`{"unknown":[`, `]}`}} {
		for _, depth := range []int{100, 20000} {
			text := strings.Repeat(parts[0], depth) + "{}" + strings.Repeat(parts[1], depth)
			if _, ok := d.Decode([]byte(text), &kitchen{}); ok != (depth == 100) {
				t.Errorf("%q, %d times: %v", parts[0], depth, ok)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	types := []reflect.Type{
		reflect.TypeFor[kitchen](), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Node](), reflect.TypeFor[corev1.Service](),
		reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[schema](),
	}
	for i := range types {
		for _, text := range []string{string(somePods(1, false)[0]), string(somePods(2, true)[1]), crd(2, 1)} {
			f.Add(uint8(i), text)
		}
	}
	var names []string
	for field := range reflect.TypeFor[kitchen]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	for i, value := range tricky {
		key, _ := json.Marshal(names[i%len(names)])
		other, _ := json.Marshal(names[(i+5)%len(names)])
		// A seed for two types, not for all: a fuzz target runs its seeds first, which takes longer
		// than a short run has.
		text := `{"kind":"A",` + string(key) + `:` + value + `,` + string(other) + `:` + value + `}`
		f.Add(uint8(0), text)
		f.Add(uint8(1+i%(len(types)-1)), text)
		f.Add(uint8(0), `{`+string(key)+`:`+value+`,"self":{`+string(key)+`:`+tricky[(i+7)%len(tricky)]+`}}`)
	}
	subjects := make([]*subject, len(types))
	for i, of := range types {
		subjects[i] = newSubject(f, of)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		s := subjects[int(kind)%len(subjects)]
		s.check(t, text)
		if len(s.kept) >= 500 || t.Failed() {
			s.checkKept(t)
		}
	})
}
