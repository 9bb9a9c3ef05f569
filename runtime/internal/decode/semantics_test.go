// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// inner is embedded, with and without a name.
type inner struct {
	X string `json:"x,omitempty"`
	Y int    `json:"y"`
}

// Outer is exported, as encoding/json requires of structs embedded by pointer.
type Outer struct {
	Z string `json:"z"`
}

// custom has an UnmarshalJSON method.
type custom struct{ raw string }

func (c *custom) UnmarshalJSON(data []byte) error {
	if string(data) == `"bad"` {
		return fmt.Errorf("bad on purpose")
	}
	c.raw = string(data)
	return nil
}

// text has an UnmarshalText method; it is also a map key.
type text string

func (t *text) UnmarshalText(data []byte) error {
	*t = text("<" + string(data) + ">")
	return nil
}

// kitchenSink has a field of each type used by APIs.
type kitchenSink struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	inner  `json:",inline"`
	*Outer `json:",inline"`
	Named  inner `json:"named"`
	Inline inner `json:",inline"`

	Int     int64             `json:"int"`
	Small   int8              `json:"small"`
	Uint    uint32            `json:"uint"`
	Float   float64           `json:"float"`
	Bool    bool              `json:"bool"`
	String  string            `json:"string"`
	Quoted  int64             `json:"quoted,string"`
	QFloat  *float64          `json:"qfloat,string"`
	QBool   bool              `json:"qbool,string"`
	Ptr     *int32            `json:"ptr"`
	PtrPtr  **string          `json:"ptrptr"`
	Bytes   []byte            `json:"bytes"`
	Array   [2]int            `json:"array"`
	Strings []string          `json:"strings"`
	Structs []inner           `json:"structs"`
	Ptrs    []*inner          `json:"ptrs"`
	Map     map[string]string `json:"map"`
	BMap    map[string][]byte `json:"bmap"`
	SMap    map[string]inner  `json:"smap"`
	PMap    map[string]*inner `json:"pmap"`
	IMap    map[int]string    `json:"imap"`
	TMap    map[text]int      `json:"tmap"`

	Custom   custom               `json:"custom"`
	CustomP  *custom              `json:"customp"`
	Text     text                 `json:"text"`
	Quantity resource.Quantity    `json:"quantity"`
	List     corev1.ResourceList  `json:"list"`
	IntStr   intstr.IntOrString   `json:"intstr"`
	IntStrP  *intstr.IntOrString  `json:"intstrp"`
	Time     metav1.Time          `json:"time"`
	TimeP    *metav1.Time         `json:"timep"`
	Micro    metav1.MicroTime     `json:"micro"`
	Duration metav1.Duration      `json:"duration"`
	Nanos    time.Duration        `json:"nanos"`
	Raw      runtime.RawExtension `json:"raw"`
	RawMsg   json.RawMessage      `json:"rawmsg"`
	Fields   *metav1.FieldsV1     `json:"fields"`
	Untagged string
	Dash     string `json:"-"`
}

func (k *kitchenSink) DeepCopyObject() runtime.Object { panic("not needed") }

// codecs are cached by type.
var codecs sync.Map

func codecOf(t testing.TB, newObject func() object.Object) *Codec {
	key := reflect.TypeOf(newObject())
	if c, ok := codecs.Load(key); ok {
		return c.(*Codec)
	}
	c := mustCodec(t, Options{}, newObject)
	codecs.Store(key, c)
	return c
}

// decodeBoth compares our decoders with sigs.k8s.io/json.
func decodeBoth(t *testing.T, data string, newObject func() object.Object) {
	t.Helper()
	c := codecOf(t, newObject)
	want := newObject()
	wantErr := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(data), want)
	for name, d := range map[string]*jsonDecoder{"slow": {codec: c}, "fast": decoderOf(c, false), "sharing": decoderOf(c, true)} {
		var r Item
		for range 3 { // parts are entered, and then found
			d.item(bytes.Clone([]byte(data)), &r)
		}
		if (wantErr == nil) != (r.err == nil) {
			t.Errorf("%s decoder: %.300s\nwant error %v\ngot error  %v", name, data, wantErr, r.err)
		} else if wantErr == nil && !reflect.DeepEqual(want, r.Object) {
			t.Errorf("%s decoder: %.300s\nwant %+v\ngot  %+v", name, data, want, r.Object)
		}
	}
}

// decoderOf returns a decoder that uses the fast one where possible.
func decoderOf(c *Codec, readOnly bool) *jsonDecoder {
	w := jsonFormat{stream: &Stream{codec: c, readOnly: readOnly}}
	d := w.decoder().(*jsonDecoder)
	w.release(d) // so that the codec returns it again
	return d
}

// trickyValues are values for every field.
var trickyValues = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `127`, `128`, `255`, `256`, `4294967295`, `4294967296`, `2147483648`,
	`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`, `9007199254740993`, `18446744073709551615`,
	`1.0`, `1.5`, `1e3`, `1E+2`, `1e-1`, `1e400`, `0.1`, `01`, `+1`, `1.`, `.5`, `NaN`, `0x10`,
	`""`, `"x"`, `"1"`, `"1.5"`, `"100m"`, `"1Gi"`, `"1e3"`, `"-1"`, `"bad"`, `"true"`, `"null"`, `" 1"`, `"50%"`, `"aGVsbG8="`, `"aGVsbG8"`, `"a-_b"`, `"aGVs\nbG8="`, `"1h30m"`,
	`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.678901Z"`, `"2026-01-02T03:04:05+02:00"`, `"2026-01-02"`,
	`"\u00e9\ud83d\ude00"`, `"\ud800"`, `"\udc00x"`, "\"\xff\xfe\"", "\"a\x00b\"", "\"tab\tin\"", `"\/"`, `"\x"`, `"<&>"`, "\"\u2028\"",
	`[]`, `[null]`, `[1]`, `[1,2]`, `[1,2,3]`, `["a"]`, `["a",null]`, `[1.0,9007199254740993]`, `[{}]`, `[{"x":"a","y":2},{"y":3}]`, `[[1],[2]]`, `[1,]`, `[`,
	`{}`, `{"x":"a"}`, `{"x":null}`, `{"X":"upper"}`, `{"y":1,"y":2}`, `{"x":"a","x":null}`, `{"a":{"x":"1","y":1},"a":{"x":"2"}}`,
	`{"1":"a","-2":"b"}`, `{"a":1,"b":9007199254740993,"c":1.0,"d":1e2}`, `{"a":"aGVsbG8=","b":null}`, `{"cpu":"100m","memory":1}`, `{"a":null}`,
	`{"a":[1,{"b":null}]}`, `{"":""}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{"kind":"X","apiVersion":"v1"}`, `{"f:metadata":{"f:labels":{}}}`, ` {"x" : "spaces" } `,
}

// TestJSONAgreesWithSigsJSON decodes every tricky value in every field: alone, after another value
// and twice.
func TestJSONAgreesWithSigsJSON(t *testing.T) {
	newKitchen := func() object.Object { return &kitchenSink{} }
	var names []string
	for f := range reflect.TypeFor[kitchenSink]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		names = append(names, name)
	}
	names = append(names, "x", "y", "z", "kind", "apiVersion", "unknown", "INT", "Metadata", "untagged", "-", "")
	for _, name := range names {
		key, _ := json.Marshal(name)
		for i, value := range trickyValues {
			decodeBoth(t, fmt.Sprintf(`{%s:%s}`, key, value), newKitchen)
			decodeBoth(t, fmt.Sprintf(`{%s:%s,%s:%s}`, key, trickyValues[(i+7)%len(trickyValues)], key, value), newKitchen)
			decodeBoth(t, fmt.Sprintf(`{%s:%s,"string":"after",%s:%s}`, key, value, key, value), newKitchen)
		}
	}
}

// Anything is an empty interface with a name.
type Anything interface{}

// exotic has fields that need sigs.k8s.io/json.
type exotic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Any    any                 `json:"any"`
	Named  Anything            `json:"named"`
	AMap   map[string]any      `json:"amap"`
	NMap   map[string]Anything `json:"nmap"`
	Slice  []any               `json:"slice"`
	Number json.Number         `json:"number"`
	Spec   struct {
		//lint:ignore SA5008 the test is about it
		Last int `json:"last,,omitempty"`
	} `json:"spec"`
	Quotes int `json:"'quotes'"`
	//lint:ignore SA5008 the test is about it
	Strings []int    `json:"strings,string"`
	Quoted  string   `json:"quoted,string"`
	Channel chan int `json:"channel"`
	//lint:ignore SA5008 the test is about it
	Escaped int    `json:"a\\nb"`
	Future  int    `json:"future,case:ignore"`
	Format  []byte `json:"format,format:hex"`
}

func (e *exotic) DeepCopyObject() runtime.Object { panic("not needed") }

func TestExoticTypesAgreeWithSigsJSON(t *testing.T) {
	for _, value := range trickyValues {
		for _, data := range []string{
			`{"any":%s}`, `{"named":%s}`, `{"amap":%s}`, `{"nmap":%s}`, `{"slice":%s}`, `{"number":%s}`, `{"spec":{"last":%s}}`, `{"spec":%s}`,
			`{"strings":%s}`, `{"quoted":%s}`, `{"channel":%s}`, `{"quotes":%s}`, `{"'quotes'":%s}`, `{"Quotes":%s}`, `{"Escaped":%s}`, `{"future":%s}`, `{"FUTURE":%s}`, `{"format":%s}`,
		} {
			decodeBoth(t, fmt.Sprintf(data, value), func() object.Object { return &exotic{} })
		}
	}
}

func TestIsExotic(t *testing.T) {
	for _, tc := range []struct {
		t    reflect.Type
		want bool
	}{
		{reflect.TypeFor[corev1.Pod](), false},
		{reflect.TypeFor[kitchenSink](), false},
		{reflect.TypeFor[exotic](), true},
		{reflect.TypeFor[struct{ A []any }](), true},
		{reflect.TypeFor[struct{ A map[string]*Anything }](), true},
		{reflect.TypeFor[struct{ A json.Number }](), true},
		{reflect.TypeFor[struct {
			//lint:ignore SA5008 the test is about it
			A int `json:"a'"`
		}](), true},
		{reflect.TypeFor[struct {
			A int `json:"a,embed"`
		}](), true},
		{reflect.TypeFor[struct {
			A int `json:"a,,string"` //lint:ignore SA5008 the test is about it
		}](), true},
		{reflect.TypeFor[struct {
			A *bool   `json:"a,string"`
			B float32 `json:"b,string"`
		}](), false},
		{reflect.TypeFor[struct {
			A string `json:"a,string"`
		}](), true},
		{reflect.TypeFor[struct {
			A []int `json:"a,string"` //lint:ignore SA5008 the test is about it
		}](), true},
		{reflect.TypeFor[struct{ A func() }](), true},
	} {
		if got := isExotic(tc.t, map[reflect.Type]bool{}); got != tc.want {
			t.Errorf("isExotic(%v) = %v, want %v", tc.t, got, tc.want)
		}
	}
}

// TestPodsAgreeWithSigsJSON replaces parts of a Pod by tricky values, and cuts it off.
func TestPodsAgreeWithSigsJSON(t *testing.T) {
	newPod := func() object.Object { return &corev1.Pod{} }
	whole := podtest.Large(1)
	decodeBoth(t, whole, newPod)
	var tree any
	if err := json.Unmarshal([]byte(whole), &tree); err != nil {
		t.Fatal(err)
	}
	marker := "@@here@@"
	var walk func(v any, set func(any))
	n := 0
	walk = func(v any, set func(any)) {
		set(marker)
		data, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		set(v)
		for i, value := range trickyValues {
			if (i+n)%7 == 0 { // a sample of the pairs
				decodeBoth(t, strings.Replace(string(data), `"`+marker+`"`, value, 1), newPod)
			}
		}
		n++
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				walk(v[k], func(x any) { v[k] = x })
			}
		case []any:
			for i := range v {
				walk(v[i], func(x any) { v[i] = x })
			}
		}
	}
	walk(tree, func(x any) { tree = x })
	for i := range whole {
		if i%13 == 0 {
			decodeBoth(t, whole[:i], newPod)
		}
	}
}

func TestUntypedAgreesWithSigsJSON(t *testing.T) {
	for _, value := range append([]string{podtest.Large(3)}, trickyValues...) {
		data := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"},"v":` + value + `}`
		var want map[string]any
		wantErr := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(data), &want)
		got, _, gotErr := listAll(newReader(t, JSON, []byte(podtest.List("1", data)), func() *unstructured.Unstructured { return &unstructured.Unstructured{} }, Options{}))
		if (wantErr == nil) != (gotErr == nil) {
			t.Errorf("%.200s\nwant error %v\ngot error  %v", value, wantErr, gotErr)
		} else if gotErr == nil && !reflect.DeepEqual(want, got[0].Object) {
			t.Errorf("%.200s\nwant %#v\ngot  %#v", value, want, got[0].Object)
		}
	}
}
