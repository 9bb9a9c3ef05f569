// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

func mustDecode[T any](t testing.TB, d *Decoder, text string) *T {
	t.Helper()
	obj := new(T)
	if n, ok := d.Decode([]byte(text), obj); !ok || n != len(text) {
		t.Fatalf("Decode(%.500s) = %d, %v", text, n, ok)
	}
	return obj
}

func TestEqualPartsAreShared(t *testing.T) {
	program := mustProgram[kitchenSink](t, dropped.Parts{})
	const text = `{"strings":["a","b"],"map":{"k":"v"},"self":{"x":"y"},"ptr":7}`
	for _, want := range []bool{true, false} {
		var same [4]bool
		// A table's set of seen hashes is lossy: two parts may displace each other there, but
		// hardly with the seeds of three tables.
		for range 3 {
			d := program.NewDecoder(share.New(1<<20), want)
			mustDecode[kitchenSink](t, d, text)
			mustDecode[kitchenSink](t, d, text) // enters the parts
			a, b := mustDecode[kitchenSink](t, d, text), mustDecode[kitchenSink](t, d, text)
			same = [...]bool{
				&a.Strings[0] == &b.Strings[0], a.Self == b.Self, a.Ptr == b.Ptr,
				reflect.ValueOf(a.Map).Pointer() == reflect.ValueOf(b.Map).Pointer(),
			}
			if same == [...]bool{want, want, want, want} {
				break
			}
		}
		if same != [...]bool{want, want, want, want} {
			t.Errorf("parts %v: slice, pointer, number and map are shared: %v", want, same)
		}
	}
}

// TestPointerTargetsAreShared decodes pointers to strings, repeated and unique, and to a duration.
func TestPointerTargetsAreShared(t *testing.T) {
	program := mustProgram[kitchenSink](t, dropped.Parts{})
	for _, parts := range []bool{true, false} {
		d := program.NewDecoder(share.New(1<<20), parts)
		decode := func(i int) *kitchenSink {
			return mustDecode[kitchenSink](t, d, fmt.Sprintf(`{"stringp":"known-%d","namedp":"","namedps":["a","own-%d","","a","b"],"durp":"1h"}`, i%2, i))
		}
		for i := range 4 { // until repeated strings are known
			decode(i)
		}
		a, b, c := decode(4), decode(5), decode(6)
		for _, o := range []*kitchenSink{a, b, c} {
			n := map[*kitchenSink]int{a: 4, b: 5, c: 6}[o]
			if *o.StringP != fmt.Sprint("known-", n%2) || *o.NamedP != "" || *o.NamedPs[1] != named(fmt.Sprint("own-", n)) || *o.NamedPs[3] != "a" || *o.NamedPs[4] != "b" {
				t.Errorf("object %d is decoded as %+v", n, o)
			}
		}
		same := [...]bool{a.StringP == c.StringP, a.NamedP == b.NamedP, a.NamedPs[0] == b.NamedPs[3], a.NamedPs[2] == c.NamedPs[2], a.NamedPs[4] == b.NamedPs[4], a.DurP == b.DurP}
		if want := [...]bool{parts, parts, parts, parts, parts, parts}; same != want {
			t.Errorf("parts %v: targets are shared: %v", parts, same)
		}
		if a.StringP == b.StringP || a.NamedPs[1] == b.NamedPs[1] {
			t.Error("different targets are shared")
		}
	}
}

// TestPointersToUniqueStrings decodes pointers to unique and to long strings, which are not
// interned, among repeated ones.
func TestPointersToUniqueStrings(t *testing.T) {
	d := mustProgram[corev1.PersistentVolumeClaim](t, dropped.Parts{}).NewDecoder(share.New(1<<20), true)
	for i := range 100 {
		name := fmt.Sprint("claim-", i)
		class := []string{"fast", name, strings.Repeat(name, 100), "fast", ""}[i%5]
		c := mustDecode[corev1.PersistentVolumeClaim](t, d, fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop"},"spec":{"storageClassName":%q}}`, name, class))
		if got := *c.Spec.StorageClassName; got != class || c.Name != name || c.Namespace != "shop" {
			t.Errorf("%s: storageClassName is %q, want %q", c.Name, got, class)
		}
	}
}

func TestEqualPartsWithinAnObjectAreShared(t *testing.T) {
	const text = `{"selves":[{"strings":["a","b"]},{"strings":["a","b"],"selves":[{"strings":["a","b"]}]}]}`
	program := mustProgram[kitchenSink](t, dropped.Parts{})
	for _, parts := range []bool{true, false} {
		o := mustDecode[kitchenSink](t, program.NewDecoder(share.New(1<<20), parts), text)
		a, b, c := o.Selves[0].Strings, o.Selves[1].Strings, o.Selves[1].Selves[0].Strings
		if got := &a[0] == &b[0] && &a[0] == &c[0]; got != parts {
			t.Errorf("parts %v: slices of an object are shared: %v", parts, got)
		}
	}
}

// TestTablePartsDoNotReferToTheObject has a slice in a part of the table and in the object itself.
// If the table used the object's slice, it would keep the object's memory.
func TestTablePartsDoNotReferToTheObject(t *testing.T) {
	d := mustProgram[kitchenSink](t, dropped.Parts{}).NewDecoder(share.New(1<<20), true)
	for i := range 100 { // until Finders skip the site of strings
		mustDecode[kitchenSink](t, d, fmt.Sprintf(`{"strings":["%d"]}`, i))
	}
	const text = `{"strings":["a","b"],"self":{"names":["c"],"strings":["a","b"]}}`
	mustDecode[kitchenSink](t, d, text)
	entered, found := mustDecode[kitchenSink](t, d, text), mustDecode[kitchenSink](t, d, text)
	if entered.Self != found.Self {
		t.Fatal("the part is not shared")
	}
	if &entered.Strings[0] == &entered.Self.Strings[0] {
		t.Error("the part in the table refers to the object's slice")
	}
	if &found.Strings[0] == &found.Self.Strings[0] {
		t.Error("the slice is shared by the table, so this tests nothing")
	}
}

// TestSharedSlicesHaveNoSpareCapacity checks that an append to a shared slice never writes to it.
func TestSharedSlicesHaveNoSpareCapacity(t *testing.T) {
	d := mustProgram[kitchenSink](t, dropped.Parts{}).NewDecoder(share.New(1<<20), true)
	for range 3 {
		o := mustDecode[kitchenSink](t, d, `{"strings":["a","b","c"],"bytes":"aGVsbG8=","anys":[[1,2,3]],"amap":{"a":[1,2,3]},"bmap":{"a":"aGVsbG8="},"raw":{"a":1},"rawmsg":[1,2],"fields":{"a":1}}`)
		for i, room := range []int{
			cap(o.Strings) - 3, cap(o.Bytes) - 5, cap(o.Anys) - 1, cap(o.Anys[0].([]any)) - 3, cap(o.AMap["a"].([]any)) - 3, cap(o.BMap["a"]) - 5,
			//lint:ignore SA1019 there is no other way in the oldest libraries
			cap(o.Raw.Raw) - 7, cap(o.RawMsg) - 5, cap(o.Fields.Raw) - 7,
		} {
			if room != 0 {
				t.Errorf("slice %d has a spare capacity of %d, want 0", i, room)
			}
		}
	}
}

func TestDecodersShareATable(t *testing.T) {
	program, table := mustProgram[corev1.Pod](t, dropped.Parts{}), share.New(256<<10)
	pods := encodedPods(300, false)
	want := make([]corev1.Pod, len(pods))
	for i := range pods {
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(pods[i], &want[i]); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			d := program.NewDecoder(table, true)
			for n := range 2 * len(pods) {
				i := (n*(2*g+1) + g) % len(pods)
				var got corev1.Pod
				if _, ok := d.Decode(pods[i], &got); !ok || !reflect.DeepEqual(&got, &want[i]) {
					t.Errorf("Pod %d: accepted %v\nwant %+v\ngot  %+v", i, ok, want[i], got)
					return
				}
			}
		})
	}
	all.Wait()
}

// panicking has a decoding method that panics.
type panicking struct{}

func (b *panicking) UnmarshalJSON(data []byte) error {
	if string(data) == `"now"` {
		panic("on purpose")
	}
	return nil
}

func TestDecoderAfterPanic(t *testing.T) {
	type armed struct {
		Strings []string          `json:"strings"`
		Map     map[string]string `json:"map"`
		Bombs   []panicking       `json:"bombs"`
	}
	d := mustProgram[armed](t, dropped.Parts{}).NewDecoder(share.New(1<<20), true)
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			d.Decode([]byte(`{"strings":["a"],"map":{"a":"b"},"bombs":["later","now"]}`), &armed{})
			t.Error("Decode does not panic")
		}()
		got := mustDecode[armed](t, d, `{"strings":["c"],"map":{"d":"e"},"bombs":["later"]}`)
		if want := (&armed{[]string{"c"}, map[string]string{"d": "e"}, make([]panicking, 1)}); !reflect.DeepEqual(got, want) {
			t.Errorf("Decode after a panic = %+v, want %+v", got, want)
		}
	}
}
