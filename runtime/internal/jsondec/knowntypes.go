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

// raw decodes the value at in[i] by the type's UnmarshalJSON.
func (d *Decoder) raw(pl *plan, i int, p layout.Pointer) int {
	end := skip(d.in, i)
	if end < 0 {
		return -1
	}
	v := pl.typ.Value(p)
	if v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(d.in[i:end:end]) != nil {
		return -1
	}
	if d.parts {
		clip(v)
	}
	return end
}

// clip removes the spare capacity of a slice, or of the slices in a struct, such as a RawExtension:
// appending to a shared slice must not write where another object's owner appends, too.
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

// ownText decodes the string at in[i] by the type's UnmarshalText.
func (d *Decoder) ownText(pl *plan, i int, p layout.Pointer) int {
	if d.in[i] != '"' {
		return -1
	}
	b, end := d.plainText(i + 1)
	if end < 0 {
		return -1
	}
	own := pl.typ.Value(p).Addr().Interface().(encoding.TextUnmarshaler)
	if own.UnmarshalText(b[:len(b):len(b)]) != nil {
		return -1
	}
	return end
}

// day is the day of the last time that was read; at first it is the epoch's.
type day struct {
	text  [len(epoch)]byte
	start int64 // Unix time
}

const epoch = "1970-01-01T"

const secondsLen = len("2006-01-02T15:04:05")

// seconds reads a time in UTC up to the seconds. It returns false for text that it doesn't
// recognize as one.
func (d *Decoder) seconds(b []byte) (unix int64, ok bool) {
	date, clock := b[:len(d.day.text)], b[len(d.day.text):]
	if string(date) != string(d.day.text[:]) {
		days, ok := daysOf(date)
		if !ok {
			return 0, false
		}
		d.day.start = days * 24 * 3600
		copy(d.day.text[:], date)
	}
	h, m, s := twoDigits(clock[0:]), twoDigits(clock[3:]), twoDigits(clock[6:])
	if h > 23 || m > 59 || s > 59 || clock[2] != ':' || clock[5] != ':' {
		return 0, false
	}
	return d.day.start + int64(h*3600+m*60+s), true
}

// daysOf returns the number of days from the epoch to the date at the beginning of b, which a T
// ends. It returns false for text that it doesn't recognize as a date.
func daysOf(b []byte) (days int64, ok bool) {
	century, year, month, day := twoDigits(b), twoDigits(b[2:]), twoDigits(b[5:]), twoDigits(b[8:])
	if century > 99 || year > 99 || month < 1 || month > 12 || day < 1 || day > 31 || b[4] != '-' || b[7] != '-' || b[10] != 'T' {
		return 0, false
	}
	year += 100 * century
	if leap := year%4 == 0 && (year%100 != 0 || year%400 == 0); day > 28 && day > monthDays[month-1] && !(leap && month == 2 && day == 29) {
		return 0, false
	}
	// Years begin in March here, so that the leap day is at their end.
	if month -= 3; month < 0 {
		month += 12
		year--
	}
	year += 400 // makes none negative; any 400 years have the same number of days
	return int64(year*365+year/4-year/100+year/400+(153*month+2)/5+day-1) - daysToEpoch, true
}

var monthDays = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// daysToEpoch is the number of days from the first of March 400 years before the year 0 to the
// epoch.
const daysToEpoch = 719468 + 146097

// twoDigits returns the number that b begins with, or more than 99 if it is none.
func twoDigits(b []byte) int {
	high, low := b[0]-'0', b[1]-'0'
	if high > 9 || low > 9 {
		return 100
	}
	return int(high)*10 + int(low)
}

// time decodes a metav1.Time at in[i].
func (d *Decoder) time(pl *plan, i int, p layout.Pointer) int {
	const size = len(`"2006-01-02T15:04:05Z"`)
	if len(d.in)-i >= size && d.in[i] == '"' && d.in[i+size-2] == 'Z' && d.in[i+size-1] == '"' {
		if unix, ok := d.seconds(d.in[i+1 : i+1+secondsLen]); ok {
			// as the type's own method does
			layout.As[metav1.Time](p).Time = time.Unix(unix, 0).Local()
			return i + size
		}
	}
	return d.raw(pl, i, p)
}

// microTime decodes a metav1.MicroTime at in[i].
func (d *Decoder) microTime(pl *plan, i int, p layout.Pointer) int {
	const size = len(`"2006-01-02T15:04:05.000000Z"`)
	if len(d.in)-i >= size && d.in[i] == '"' && d.in[i+1+secondsLen] == '.' && d.in[i+size-2] == 'Z' && d.in[i+size-1] == '"' {
		fraction := d.in[i+2+secondsLen:]
		a, b, c := twoDigits(fraction), twoDigits(fraction[2:]), twoDigits(fraction[4:])
		if unix, ok := d.seconds(d.in[i+1 : i+1+secondsLen]); ok && a < 100 && b < 100 && c < 100 {
			nanos := int64(a*10000+b*100+c) * 1000
			layout.As[metav1.MicroTime](p).Time = time.Unix(unix, nanos).Local()
			return i + size
		}
	}
	return d.raw(pl, i, p)
}

// duration decodes a metav1.Duration at in[i].
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

// quantity decodes a resource.Quantity at in[i] by package quantity.
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

// intOrString decodes an intstr.IntOrString at in[i].
func (d *Decoder) intOrString(pl *plan, i int, p layout.Pointer) int {
	v := layout.As[intstr.IntOrString](p)
	if d.in[i] == '"' {
		v.Type = intstr.String
		return d.string(pl, i+1, layout.Of(&v.StrVal))
	}
	return d.integer(opInt32, i, layout.Of(&v.IntVal))
}
