// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// checkFrame verifies the end of a value that arrives in pieces of several sizes.
func checkFrame(t testing.TB, text string) {
	t.Helper()
	value := strings.TrimSpace(text)
	if !json.Valid([]byte(value)) {
		for _, step := range []int{1, 100} {
			var f Frame
			for n := 0; n <= len(text); n += step { // for invalid JSON, the end is undefined
				if end, ok := f.End([]byte(text[:n])); ok && end > n {
					t.Errorf("%.300q ends at %d of %d", text, end, n)
				}
			}
		}
		return
	}
	need := len(value)
	if !strings.ContainsAny(value[:1], `{["`) {
		need++ // ends only before another byte
	}
	for _, after := range []string{"", "\n", ",", "]", "}", `,{"a":"}`, "\n" + value} {
		data := []byte(value + after)
		for _, step := range []int{1, 7, 64, 1000, len(data)} {
			var f Frame
			for n, found := 0, false; n < len(data)+step && !found; n += step {
				seen := bytes.Clone(data[:min(n, len(data))])
				end, ok := f.End(seen)
				if found = ok; ok != (len(seen) >= need) || ok && end != len(value) {
					t.Fatalf("%.300q and %q, End of %d of %d bytes, %d at a time = %d, %v", value, after, len(seen), len(data), step, end, ok)
				}
			}
		}
	}
}

// checkSkip compares Skip with encoding/json.
func checkSkip(t testing.TB, text string) {
	t.Helper()
	n, ok := Skip([]byte(text))
	var raw json.RawMessage
	dec := json.NewDecoder(strings.NewReader(text))
	err := dec.Decode(&raw)
	switch {
	case ok && err != nil:
		// A json.Decoder must see the byte after a number.
		if !json.Valid([]byte(text[:n])) {
			t.Errorf("Skip(%.300q) = %d, encoding/json fails with %v", text, n, err)
		}
	case ok && n != int(dec.InputOffset()):
		t.Errorf("Skip(%.300q) = %d, want %d", text, n, dec.InputOffset())
	case ok && !utf8.ValidString(text[:n]):
		t.Errorf("Skip(%.300q) accepts invalid UTF-8", text)
	case !ok && err == nil && utf8.ValidString(text[:dec.InputOffset()]) && strings.Count(text, "[")+strings.Count(text, "{") < maxDepth:
		t.Errorf("Skip(%.300q) declines valid JSON", text)
	}
}

// checkIdentity compares ReadIdentity with sigs.k8s.io/json, and with GuessIdentity.
func checkIdentity(t testing.TB, text string) (ok bool) {
	t.Helper()
	id, ok := ReadIdentity([]byte(text), Parts{Controller: true})
	guessed := GuessIdentity([]byte(text), Parts{})
	if !ok {
		return false
	}
	if guess := GuessIdentity([]byte(text), Parts{Controller: true}); guess.Controller.IsController && !reflect.DeepEqual(guess.Controller, id.Controller) {
		t.Errorf("GuessIdentity(%.300q) has controller %+v, want %+v", text, guess.Controller, id.Controller)
	}
	without := id
	without.Controller = Owner{}
	if got, ok := ReadIdentity([]byte(text), Parts{}); !ok || !reflect.DeepEqual(got, without) {
		t.Errorf("ReadIdentity(%.300q) without the controller = %+v, %v, want %+v", text, got, ok, without)
	}
	if loose, ok := ReadIdentity([]byte(text), Parts{Loose: true, Controller: true}); !ok || !reflect.DeepEqual(loose, id) {
		t.Errorf("ReadIdentity(%.300q) = %+v, and %+v, %v if loose", text, id, loose, ok)
	}
	if len(guessed.ResourceVersion) > 0 && !bytes.Equal(guessed.ResourceVersion, id.ResourceVersion) {
		t.Errorf("GuessIdentity(%.300q) has resourceVersion %s, want %s", text, guessed.ResourceVersion, id.ResourceVersion)
	}
	var want struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Metadata   struct {
			Name            string                  `json:"name"`
			Namespace       string                  `json:"namespace"`
			UID             string                  `json:"uid"`
			ResourceVersion string                  `json:"resourceVersion"`
			OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
		} `json:"metadata"`
	}
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want); err != nil {
		t.Fatalf("ReadIdentity(%.300q) succeeds, but decoding fails with %v", text, err)
	}
	m := want.Metadata
	wanted := [...]string{want.Kind, want.APIVersion, m.Name, m.Namespace, m.UID, m.ResourceVersion}
	if got := [...]string{string(id.Kind), string(id.APIVersion), string(id.Name), string(id.Namespace), string(id.UID), string(id.ResourceVersion)}; got != wanted {
		t.Errorf("ReadIdentity(%.300q) = %q, want %q", text, got, wanted)
	}
	owner := metav1.GetControllerOf(&metav1.ObjectMeta{OwnerReferences: m.OwnerReferences})
	if (owner != nil) != id.Controller.IsController {
		t.Errorf("ReadIdentity(%.300q) has controller %+v, want %v", text, id.Controller, owner)
	} else if owner != nil {
		got := [...]string{string(id.Controller.APIVersion), string(id.Controller.Kind), string(id.Controller.Name), string(id.Controller.UID)}
		if got != [...]string{owner.APIVersion, owner.Kind, owner.Name, string(owner.UID)} {
			t.Errorf("ReadIdentity(%.300q) has controller %+v, want %v", text, got, owner)
		}
	}
	return true
}

func scanTexts() []string {
	texts := []string{
		string(encodedPods(1, false)[0]), schemaText(2, 2), `{"metadata":{"name":"a","uid":null},"kind":"K"}`, `{"metadata":null}`, `{"metadata":{"name":"a"},"metadata":{"name":"b"}}`,
		`{"metadata":{"name":"\u0061"}}`, `{"metadat\u0061":{"name":"b"}}`, `{"metadata":{"name":"a","name":"b"}}`, `{"metadata":{"name":1}}`, `{"metadata":[]}`, `{"kind":"A","kind":"B"}`,
		` { "metadata" : { "name" : "a" , "labels" : { "name" : "b" } } , "name" : "c" } `, `{"a":"` + strings.Repeat(`\\`, 100) + `"}`, `{"a":"` + strings.Repeat(`\"{`, 100) + `"}`,
		`"` + strings.Repeat(`x\"`, 50) + `"`, `[` + strings.Repeat(`[],`, 100) + `0]`, strings.Repeat(`[`, 400) + strings.Repeat(`]`, 400), strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat(`}`, 300),
	}
	for _, owners := range ownersTexts {
		texts = append(texts, `{"metadata":{"name":"a","uid":"u","resourceVersion":"1","ownerReferences":`+owners+`,"finalizers":[]}}`)
	}
	for n := range 70 { // at every offset in a block
		texts = append(texts, `{"`+strings.Repeat("a", n)+`\\":"\"}{"}`)
	}
	return append(texts, trickyValues...)
}

// ownersTexts are owner references; some of them are unusual or wrong.
var ownersTexts = []string{
	`[]`, `null`, ` [ ] `, `[{}]`, `[null]`, `{}`, `[`, `[{"name":"a"}]`, `[{"name":"a","controller":false},{"name":"b","controller":true,"kind":"K"}]`,
	`[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"b","uid":"u","controller":true,"blockOwnerDeletion":true},{"name":"c","controller":true}]`,
	` [ { "name" : "a" , "x" : [ {} ] , "controller" : true } , { } ] `, `[{"name":null,"controller":true}]`, `[{"controller":null}]`, `[{"controller":1}]`,
	`[{"name":"a","name":"b","controller":true}]`, `[{"controller":true,"controller":false}]`, `[{"name":"\u0061","controller":true}]`, `[{"name":1,"controller":true}]`,
	`[{"controller":true}],"ownerReferences":[]`, `[{"controller":tru}]`, `[{"controller":true}`, `[{"controller":true},]`, `[{"controller":true,}]`,
}

func TestScanners(t *testing.T) {
	for _, text := range scanTexts() {
		for _, text := range []string{text, `{"a":` + text + `,"b":[` + text + `]}`} {
			checkFrame(t, text)
			checkSkip(t, text)
			checkIdentity(t, text)
		}
	}
	if !checkIdentity(t, string(encodedPods(1, false)[0])) {
		t.Error("ReadIdentity declines a Pod")
	}
	pod := encodedPods(1, false)[0]
	for _, parts := range []Parts{{}, {Controller: true}} {
		if id, _ := ReadIdentity(pod, parts); len(id.UID) == 0 || !reflect.DeepEqual(GuessIdentity(pod, parts), id) {
			t.Errorf("GuessIdentity of a Pod = %+v, want %+v", GuessIdentity(pod, parts), id)
		}
	}
	// A kube-apiserver sorts the members of custom resources.
	custom := []byte(`{"apiVersion":"a/v1","kind":"K","metadata":{"labels":{"a":"b"},"name":"n","namespace":"ns","resourceVersion":"1","uid":"u"},"spec":{}}`)
	if id, _ := ReadIdentity(custom, Parts{}); len(id.UID) == 0 || !reflect.DeepEqual(GuessIdentity(custom, Parts{}), id) {
		t.Errorf("GuessIdentity of a custom resource = %+v, want %+v", GuessIdentity(custom, Parts{}), id)
	}
	if id := GuessIdentity(custom[:bytes.Index(custom, []byte(`"spec"`))], Parts{Controller: true}); string(id.UID) != "u" {
		t.Errorf("GuessIdentity of the metadata = %+v, want uid u", id)
	}
}

func FuzzScanners(f *testing.F) {
	for _, text := range scanTexts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkFrame(t, text)
		checkSkip(t, text)
		checkIdentity(t, text)
	})
}

func TestDroppedPartsAreMissing(t *testing.T) {
	drop := dropped.Parts{ManagedFields: true, Annotations: map[string]bool{"drop": true, "prometheus.io/port": true, "é\"": true}}
	program := mustProgram[corev1.Pod](t, drop)
	table := share.New(1 << 20)
	shared, alone := program.NewDecoder(table, true), program.NewDecoder(nil, false)
	texts := []string{
		`{"metadata":{"annotations":{"drop":"a","keep":"b"}}}`, `{"metadata":{"annotations":{"drop":"a"}}}`, `{"metadata":{"annotations":{}}}`, `{"metadata":{"annotations":null,"managedFields":null}}`,
		`{"metadata":{"annotations":{"keep":"b", "\u00e9\"" : "x" }, "managedFields" : [ ] }}`, `{"metadata":{"managedFields":[{"manager":"a"},{"fieldsV1":{}}],"name":"n"},"spec":{"nodeName":"x"}}`,
		`{"metadata":{"annotations":{"drop":"a","drop":"b","keep":"c"}}}`,
	}
	for _, pod := range encodedPods(300, false) {
		texts = append(texts, string(pod))
	}
	for _, text := range texts {
		var want corev1.Pod
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		want.ManagedFields = nil
		before := len(want.Annotations)
		for key := range drop.Annotations {
			delete(want.Annotations, key)
		}
		if before > 0 && len(want.Annotations) == 0 {
			want.Annotations = nil
		}
		for range 3 {
			for name, d := range map[string]*Decoder{"shared": shared, "alone": alone} {
				var got corev1.Pod
				if _, ok := d.Decode([]byte(text), &got); !ok || !reflect.DeepEqual(&got, &want) {
					t.Fatalf("%s: Decode(%.300s): accepted %v\nwant %+v\ngot  %+v", name, text, ok, want.ObjectMeta, got.ObjectMeta)
				}
			}
		}
	}
	for _, text := range []string{
		`{"metadata":{"managedFields":[{"manager":}]}}`, `{"metadata":{"managedFields":[{"fieldsV1":{"a":01}}]}}`, `{"metadata":{"managedFields":[],"managedFields":[]}}`,
		`{"metadata":{"annotations":{"drop":"a\q"}}}`, `{"metadata":{"annotations":{"drop":"a",}}}`, `{"metadata":{"annotations":{"drop" "a"}}}`, `{"metadata":{"managedFields":[{"fieldsV1":{}},]}}`,
		`{"metadata":{"managedFields":[{"fieldsV1":{},}]}}`, `{"metadata":{"managedFields":[{"fieldsV1":{}]}}`,
		`{"metadata":{"managedFields":{}}}`, `{"metadata":{"managedFields":[1]}}`, `{"metadata":{"managedFields":[{}`, `{"metadata":{"managedFields":[{"fieldsV1":`,
	} {
		for name, d := range map[string]*Decoder{"shared": shared, "alone": alone} {
			if _, ok := d.Decode([]byte(text), &corev1.Pod{}); ok {
				t.Errorf("%s decoder accepts %s", name, text)
			}
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[corev1.PodSpec](), reflect.TypeFor[jsonUnmarshaler]()} {
		if _, err := New(of, drop); err == nil {
			t.Errorf("New accepts dropped parts for %v, which has no metadata", of)
		}
	}
}
