// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/quantity"
)

func (d *Decoder) jsonUnmarshaler(pl *plan, i int, p layout.Pointer) int {
	end := skip(d.in, i)
	if end < 0 {
		return -1
	}
	v := pl.typ.Value(p)
	if v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(d.in[i:end:end]) != nil {
		return -1
	}
	if d.sharesParts {
		clip(v)
	}
	return end
}

// clip removes the spare capacity of a slice, or of the slices in a struct, such as a RawExtension:
// appends to a shared slice by two owners must not write to the same memory.
func clip(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		v.SetCap(v.Len())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Slice && f.CanSet() {
				f.SetCap(f.Len())
			}
		}
	}
}

func (d *Decoder) textUnmarshaler(pl *plan, i int, p layout.Pointer) int {
	if d.in[i] != '"' {
		return -1
	}
	b, end := d.plainText(i + 1)
	if end < 0 {
		return -1
	}
	unmarshaler := pl.typ.Value(p).Addr().Interface().(encoding.TextUnmarshaler)
	if unmarshaler.UnmarshalText(b[:len(b):len(b)]) != nil {
		return -1
	}
	return end
}

func (d *Decoder) time(pl *plan, i int, p layout.Pointer) int {
	const size = len(`"2006-01-02T15:04:05Z"`)
	if end := i + size; end <= len(d.in) && d.in[i] == '"' && d.in[end-1] == '"' {
		if t, err := time.Parse(time.RFC3339, layout.View(d.in[i+1:end-1])); err == nil {
			layout.As[metav1.Time](p).Time = t.Local()
			return end
		}
	}
	return d.jsonUnmarshaler(pl, i, p)
}

func (d *Decoder) duration(i int, p layout.Pointer) int {
	if d.in[i] != '"' {
		return -1
	}
	b, end := d.plainText(i + 1)
	if end < 0 {
		return -1
	}
	v, err := time.ParseDuration(layout.View(b))
	if err != nil {
		return -1
	}
	layout.As[metav1.Duration](p).Duration = v
	return end
}

func (d *Decoder) quantity(i int, p layout.Pointer) int {
	end := -1
	if d.in[i] == '"' {
		end, _ = stringEnd(d.in, i+1)
	} else {
		end, _ = numberEnd(d.in, i)
	}
	if end < 0 || quantity.ParseJSON(d.in[i:end], layout.As[resource.Quantity](p)) != nil {
		return -1
	}
	return end
}

func (d *Decoder) intOrString(pl *plan, i int, p layout.Pointer) int {
	v := layout.As[intstr.IntOrString](p)
	if d.in[i] == '"' {
		v.Type = intstr.String
		return d.string(pl, i+1, layout.Of(&v.StrVal))
	}
	return d.integer(opInt32, i, layout.Of(&v.IntVal))
}
