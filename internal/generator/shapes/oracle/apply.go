// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Apply sets random fields of apply configurations to random values, zero values included. Their
// JSON must have exactly these fields and values, and the type of the objects must have the fields.
// Apply reports whether all of that holds.
func Apply[T object.Object, C any](seed uint64, newObject func() T) (ok bool) {
	random := rand.New(rand.NewPCG(seed, 3))
	before, set := failed, 0
	for range 300 {
		content, ok := randomJSON(random, reflect.TypeFor[C](), 0)
		if !ok {
			continue
		}
		text := mustEncode(content)
		var config C
		if err := strictly(text, &config); err != nil {
			failApply(config, "decoding %s: %v", text, err)
			continue
		}
		if got := mustEncode(decoded(mustEncode(&config))); got != mustEncode(decoded(text)) {
			failApply(config, "the fields\n%s\nare sent as\n%s", text, got)
		}
		if err := strictly(text, newObject()); err != nil {
			failApply(config, "the object's type lacks fields of %s: %v", text, err)
		}
		set += len(text)
	}
	if set < 10_000 {
		failApply(new(C), "only %d bytes of fields were set", set)
	}
	return failed == before
}

func failApply(config any, format string, args ...any) {
	failed++
	fmt.Fprintf(os.Stderr, "%T: %s\n", config, fmt.Sprintf(format, args...))
}

func strictly(text string, into any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// decoded returns JSON without objects that have no fields, which an apply configuration only has
// for pointers and maps.
func decoded(text string) any {
	var v any
	must(json.Unmarshal([]byte(text), &v))
	return pruned(v)
}

func pruned(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case map[string]any:
		for key, value := range v {
			value = pruned(value)
			if m, ok := value.(map[string]any); ok && len(m) == 0 {
				delete(v, key)
			} else {
				v[key] = value
			}
		}
	}
	return v
}

// encodings are values of types that encode themselves.
var encodings = map[reflect.Type][]any{
	reflect.TypeFor[metav1.Time]():          {"2026-01-02T03:04:05Z"},
	reflect.TypeFor[metav1.Duration]():      {"0s", "1m0s"},
	reflect.TypeFor[resource.Quantity]():    {"0", "5Gi"},
	reflect.TypeFor[intstr.IntOrString]():   {0, 80, "", "http"},
	reflect.TypeFor[runtime.RawExtension](): {map[string]any{"a": 1}},
	reflect.TypeFor[json.RawMessage]():      {0, "", []any{}},
}

// randomJSON returns the JSON of a random value; not ok stands for none.
func randomJSON(random *rand.Rand, t reflect.Type, depth int) (v any, ok bool) {
	if values := encodings[t]; values != nil {
		return values[random.IntN(len(values))], true
	}
	if depth > 8 {
		return nil, false
	}
	switch t.Kind() {
	case reflect.String:
		return []string{"", "a", "b"}[random.IntN(3)], true
	case reflect.Bool:
		return random.IntN(2) == 0, true
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Uint8:
		return random.IntN(3), true
	case reflect.Interface:
		return []any{false, 0, "", []any{}}[random.IntN(4)], true
	case reflect.Pointer:
		return randomJSON(random, t.Elem(), depth)
	case reflect.Slice, reflect.Array:
		n := random.IntN(3)
		if t.Kind() == reflect.Array {
			n = t.Len()
		}
		if t == reflect.TypeFor[[]byte]() {
			return []string{"", "YQ=="}[random.IntN(2)], true
		}
		all := []any{}
		for range n {
			elem, ok := randomJSON(random, t.Elem(), depth+1)
			if !ok {
				return nil, false
			}
			all = append(all, elem)
		}
		return all, true
	case reflect.Map:
		entries := map[string]any{}
		for _, key := range []string{"", "x"} {
			if elem, ok := randomJSON(random, t.Elem(), depth+1); ok && random.IntN(2) == 0 {
				entries[key] = elem
			}
		}
		return entries, true
	case reflect.Struct:
		fields := map[string]any{}
		addFields(random, fields, t, depth)
		return fields, true
	}
	panic("a value of " + t.String())
}

func addFields(random *rand.Rand, fields map[string]any, t reflect.Type, depth int) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		of := field.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if field.Anonymous && name == "" {
			addFields(random, fields, of, depth)
			continue
		}
		if random.IntN(2+depth) > 0 {
			continue
		}
		if value, ok := randomJSON(random, field.Type, depth+1); ok {
			switch list, isList := value.([]any); {
			case isList && len(list) == 0 && options == "omitempty" && field.Type.Kind() == reflect.Slice:
				continue // client-go's have no empty lists
			case strings.HasSuffix(options, ",string"):
				value = fmt.Sprint(value)
			}
			fields[name] = value
		}
	}
}
