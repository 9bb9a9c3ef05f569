// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// inner is embedded, with and without a name.
type inner struct {
	X string `json:"x,omitempty"`
	Y int    `json:"y"`
}

// Outer is exported, as encoding/json requires of structs embedded by pointer.
type Outer struct {
	Z     string `json:"z"`
	*Deep `json:",inline"`
}

// Deep is embedded in an embedded struct.
type Deep struct {
	W []string `json:"w"`
	Y int      `json:"y"` // hidden
}

// jsonUnmarshaler has an UnmarshalJSON method.
type jsonUnmarshaler struct{ raw string }

func (c *jsonUnmarshaler) UnmarshalJSON(data []byte) error {
	if string(data) == `"bad"` {
		return fmt.Errorf("bad on purpose")
	}
	c.raw = string(data)
	return nil
}

// textUnmarshaler has an UnmarshalText method; it is also a map key.
type textUnmarshaler string

func (t *textUnmarshaler) UnmarshalText(data []byte) error {
	if string(data) == "bad" {
		return fmt.Errorf("bad on purpose")
	}
	*t = textUnmarshaler("<" + string(data) + ">")
	return nil
}

type (
	named string
	short uint16
	flag  bool
)

// kitchenSink has a field of each type that APIs use, and of some they avoid.
type kitchenSink struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	inner  `json:",inline"`
	*Outer `json:",inline"`
	Named  inner `json:"named"`
	Inline inner `json:",inline"`

	Int     int               `json:"int"`
	Int8    int8              `json:"int8"`
	Int16   int16             `json:"int16"`
	Int32   int32             `json:"int32"`
	Int64   int64             `json:"int64"`
	Uint    uint              `json:"uint"`
	Uint8   uint8             `json:"uint8"`
	Uint16  short             `json:"uint16"`
	Uint32  uint32            `json:"uint32"`
	Uint64  uint64            `json:"uint64"`
	Uintptr uintptr           `json:"uintptr"`
	Float   float64           `json:"float"`
	Float32 float32           `json:"float32"`
	FloatP  *float64          `json:"floatp"`
	Bool    bool              `json:"bool"`
	Flag    flag              `json:"flag"`
	String  string            `json:"string"`
	NString named             `json:"nstring"`
	Quoted  int64             `json:"quoted,string"`
	QString string            `json:"qstring,string"`
	Ptr     *int32            `json:"ptr"`
	BoolP   *bool             `json:"boolp"`
	Int8P   *int8             `json:"int8p"`
	PtrPtr  **string          `json:"ptrptr"`
	IntPP   **int             `json:"intpp"`
	StringP *string           `json:"stringp"`
	NamedP  *named            `json:"namedp"`
	NamedPs []*named          `json:"namedps"`
	SliceP  *[]string         `json:"slicep"`
	MapP    *map[string]inner `json:"mapp"`
	Bytes   []byte            `json:"bytes"`
	NBytes  []short           `json:"nbytes"`
	Array   [2]int            `json:"array"`
	Structs [2]inner          `json:"arraystructs"`
	Strings []string          `json:"strings"`
	Names   []named           `json:"names"`
	Nested  [][]string        `json:"nested"`
	Slice   []inner           `json:"structs"`
	Ptrs    []*inner          `json:"ptrs"`
	Bools   []*bool           `json:"bools"`
	Maps    []map[string]int  `json:"maps"`
	Self    *kitchenSink      `json:"self"`
	Selves  []kitchenSink     `json:"selves"`

	Map   map[string]string            `json:"map"`
	NMap  map[named]named              `json:"nmap"`
	BMap  map[string][]byte            `json:"bmap"`
	SMap  map[string]inner             `json:"smap"`
	PMap  map[string]*inner            `json:"pmap"`
	SPMap map[string]*string           `json:"spmap"`
	LMap  map[string][]inner           `json:"lmap"`
	MMap  map[string]map[string]string `json:"mmap"`
	IMap  map[int8]string              `json:"imap"`
	UMap  map[uint16]inner             `json:"umap"`
	TMap  map[textUnmarshaler]int      `json:"tmap"`
	TVMap map[string]textUnmarshaler   `json:"tvmap"`
	KMap  map[string]kitchenSink       `json:"kmap"`

	Any   any            `json:"any"`
	Anys  []any          `json:"anys"`
	AMap  map[string]any `json:"amap"`
	AnyP  *any           `json:"anyp"`
	Iface fmt.Stringer   `json:"iface"`

	Custom   jsonUnmarshaler             `json:"custom"`
	CustomP  *jsonUnmarshaler            `json:"customp"`
	Customs  []jsonUnmarshaler           `json:"customs"`
	Text     textUnmarshaler             `json:"text"`
	Texts    []*textUnmarshaler          `json:"texts"`
	Quantity resource.Quantity           `json:"quantity"`
	QMap     map[named]resource.Quantity `json:"qmap"`
	IntStr   intstr.IntOrString          `json:"intstr"`
	IntStrP  *intstr.IntOrString         `json:"intstrp"`
	Time     metav1.Time                 `json:"time"`
	TimeP    *metav1.Time                `json:"timep"`
	Micro    metav1.MicroTime            `json:"micro"`
	Duration metav1.Duration             `json:"duration"`
	DurP     *metav1.Duration            `json:"durp"`
	StdTime  time.Time                   `json:"stdtime"`
	Nanos    time.Duration               `json:"nanos"`
	Raw      runtime.RawExtension        `json:"raw"`
	RawMsg   json.RawMessage             `json:"rawmsg"`
	RawMsgP  *json.RawMessage            `json:"rawmsgp"`
	Fields   *metav1.FieldsV1            `json:"fields"`
	Number   json.Number                 `json:"number"`
	Channel  chan int                    `json:"channel"`
	Unnamed  struct{ metav1.Time }       `json:"unnamed"`
	Escaped  int                         `json:"<é>"`
	//lint:ignore SA5008 the test is about it
	Invalid  int `json:"a\\nb"`
	Untagged string
	Dash     string `json:"-"`
	private  string
}

// schema is recursive like JSONSchemaProps.
type schema struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Type        string              `json:"type,omitempty"`
	Description string              `json:"description,omitempty"`
	Maximum     *float64            `json:"maximum,omitempty"`
	MinLength   *int64              `json:"minLength,omitempty"`
	Enum        []json.RawMessage   `json:"enum,omitempty"`
	Required    []string            `json:"required,omitempty"`
	Items       *schemaOrList       `json:"items,omitempty"`
	AllOf       []schema            `json:"allOf,omitempty"`
	Not         *schema             `json:"not,omitempty"`
	Properties  map[string]schema   `json:"properties,omitempty"`
	Dependent   map[string][]string `json:"dependent,omitempty"`
}

type schemaOrList struct {
	Schema *schema
	List   []schema
}

func (s *schemaOrList) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		s.Schema = &schema{}
		return json.Unmarshal(data, s.Schema)
	}
	return json.Unmarshal(data, &s.List)
}

// schemaText returns a schema in JSON with n properties on each level.
func schemaText(n, levels int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"object","description":"level %d of \"many\", explained at length so that there is something to read","required":["spec"],"properties":{`, levels)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if fmt.Fprintf(&b, `"property%d":`, i); levels > 0 && i%2 == 0 {
			b.WriteString(schemaText(n, levels-1))
		} else {
			fmt.Fprintf(&b, `{"type":"string","description":"Property %d is\ndescribed here.","minLength":1,"enum":["a","b"]}`, i)
		}
	}
	b.WriteString(`},"allOf":[{"not":{"type":"array","items":{"type":"integer"},"maximum":1.5}}]}`)
	return b.String()
}

// trickyValues are values for every field.
var trickyValues = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `127`, `128`, `-128`, `-129`, `255`, `256`, `65535`, `65536`, `4294967295`, `4294967296`, `2147483648`, `-2147483648`,
	`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`, `9007199254740993`, `18446744073709551615`, `999999999999999999`,
	`1.0`, `1.5`, `1e3`, `1E+2`, `1e-1`, `1e400`, `0.1`, `01`, `+1`, `1.`, `.5`, `-`, `1e`, `NaN`, `0x10`, `nul`, `tru`, `falsee`,
	`""`, `"x"`, `"1"`, `"1.5"`, `"100m"`, `"1Gi"`, `"1e3"`, `"-1"`, `"bad"`, `"true"`, `"null"`, `" 1"`, `"1 "`, `"50%"`, `"aGVsbG8="`, `"aGVsbG8"`, `"a-_b"`, `"aGVs\nbG8="`, `"aGVs\u0062G8="`, `"1h30m"`,
	`"100000000000000000000000000.5"`, `"0.0000000000000001"`, `100.5`,
	`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.678901Z"`, `"2026-01-02T03:04:05+02:00"`, `"2026-01-02"`, `"2026-02-30T00:00:00Z"`, `"2026-01-02T24:00:00Z"`, `"2026-01-02T00:00:60Z"`, `"2024-02-29T23:59:59Z"`,
	`"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"2026-01-02t03:04:05Z"`, `"2026-1-002T03:04:05Z"`, `"1970-01-01T00:00:00Z"`, "\"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0000:00:00Z\"", `"2026-01-02T03:04:05.6789012"`, `"2026-01-02T03:04:05,678901Z"`,
	`{2026-01-02T03:04:05Z"`, `-2026-01-02T03:04:05.678901Z"`,
	`"\u00e9\ud83d\ude00"`, `"\ud800"`, `"\udc00x"`, `"\ud800\u0041"`, "\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"a\x00b\"", "\"tab\tin\"", `"\/"`, `"\b\f\n\r\t\"\\"`, `"\x"`, `"\u12"`, `"<&>"`, "\"\u2028\"", "\"é ü 日本語\"", `"open`, `"open\`, `"12345678"`, `"1234567\u00e9"`, `"0123456789abcdef"`,
	`[]`, `[null]`, `[1]`, `[1,2]`, `[1,2,3]`, `["a"]`, `["a",null]`, `["a","b","a","b"]`, `[1.0,9007199254740993]`, `[{}]`, `[{"x":"a","y":2},{"y":3}]`, `[[1],[2]]`, `[["a","b"],[],["c"]]`, `[1,]`, `[`, `[,1]`, `[1 2]`, `[true,false,true]`, `[ "a" , "b" ]`, `[{"a":1},{"a":2}]`,
	`{}`, `{"x":"a"}`, `{"x":null}`, `{"X":"upper"}`, `{"y":1,"y":2}`, `{"x":"a","x":null}`, `{"a":{"x":"1","y":1},"a":{"x":"2"}}`, `{"a":{"x":"1","y":1},"b":{"x":"2"}}`,
	`{"1":"a","-2":"b"}`, `{"1":{"x":"a"},"2":{}}`, `{"128":"a"}`, `{"a":1,"b":9007199254740993,"c":1.0,"d":1e2}`, `{"a":"aGVsbG8=","b":null}`, `{"cpu":"100m","memory":1}`, `{"a":null}`,
	`["a","b","","a",null]`, `["\u0061","a"]`, `{"a":"x","b":"","c":"x"}`,
	`{"a":[1,{"b":null}]}`, `{"a":{"b":"c"},"d":{"e":"f","g":"h"}}`, `{"":""}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{"a":1,}`, `{"a":1`, `{"a"`, `{"kind":"X","apiVersion":"v1"}`, `{"f:metadata":{"f:labels":{}}}`, ` {"x" : "spaces" , "y" : 3 } `,
	`{"x":"unknown member","other":{"a":[1,2,{"b":"c\"d"}],"e":1e5}}`, `{"x":"bad in what is skipped","other":{"a":[1,2,{"b":"c\qd"}]}}`, `{"x":"a","other":[01]}`, `{"\u0078":"escaped name"}`, "{\"\xff\":\"a\"}",
	`{"name":"n","labels":{"a":"b"},"annotations":{"drop":"this","keep":"that"},"managedFields":[{"manager":"m","time":"2026-01-02T03:04:05Z","fieldsV1":{"f:a":{}}}],"creationTimestamp":null}`,
	`{"string":"deep","strings":["a","b"],"map":{"a":"b","c":"d"},"self":{"string":"deeper","strings":["a","b"],"selves":[{"string":"deepest"},{}]}}`,
	`[{"strings":["a"],"selves":[{"strings":["b"],"selves":[{"strings":["c"]}]},{"strings":["d"]}]},{"strings":["e"]}]`,
	`{"a":{"string":"in a map","kmap":{"b":{"string":"in a map in it","strings":["x"]}}},"c":{"map":{"k":"v"}}}`,
}
