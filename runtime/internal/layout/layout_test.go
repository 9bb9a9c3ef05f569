// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// leaf and tree have fields as Kubernetes' types do.
type leaf struct {
	Name   string
	On     bool
	Small  int32
	Weight float64
	Labels map[string]string
	Next   *leaf
	Words  []string
}

type tree struct {
	leaf
	Name   name
	Leaves []leaf
	Bytes  []byte
}

type name string

var (
	leafType = TypeOf(reflect.TypeFor[leaf]())
	textType = TypeOf(reflect.TypeFor[string]())
	treeType = TypeOf(reflect.TypeFor[tree]())
)

func offset(t reflect.Type, field string) uintptr {
	f, ok := t.FieldByName(field)
	if !ok {
		panic(field)
	}
	return f.Offset
}

func TestAsReadsAndWritesFields(t *testing.T) {
	v := &tree{}
	p, in := Of(v), reflect.TypeFor[leaf]()
	*As[string](At(p, offset(in, "Name"))) = "n"
	*As[bool](At(p, offset(in, "On"))) = true
	*As[int32](At(p, offset(in, "Small"))) = -7
	*As[float64](At(p, offset(in, "Weight"))) = 1.5
	*As[map[string]string](At(p, offset(in, "Labels"))) = map[string]string{"a": "b"}
	next := leafType.New()
	*As[string](At(next, offset(in, "Name"))) = "next"
	*As[Pointer](At(p, offset(in, "Next"))) = next
	*As[string](At(p, reflect.TypeFor[tree]().Field(1).Offset)) = "named"
	*As[[]byte](At(p, reflect.TypeFor[tree]().Field(3).Offset)) = []byte("xyz")
	runtime.GC()
	want := &tree{
		leaf: leaf{Name: "n", On: true, Small: -7, Weight: 1.5, Labels: map[string]string{"a": "b"}, Next: &leaf{Name: "next"}},
		Name: "named", Bytes: []byte("xyz"),
	}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("got %+v, want %+v", v, want)
	}
}

// TestMapsOfNamedStrings tests As with maps whose keys are of a named string type.
func TestMapsOfNamedStrings(t *testing.T) {
	var field map[name]leaf
	m := map[string]leaf{}
	for i := range 100 {
		m[fmt.Sprint("key-", i)] = leaf{Small: int32(i)}
	}
	*As[map[string]leaf](Of(&field)) = m
	for i := range 100 {
		if field[name(fmt.Sprint("key-", i))].Small != int32(i) {
			t.Fatalf("key-%d has another value", i)
		}
	}
	field["one more"] = leaf{Small: 1}
	if len(m) != 101 || reflect.ValueOf(field).MapIndex(reflect.ValueOf(name("key-7"))).Interface().(leaf).Small != 7 {
		t.Error("a change by one type is not visible by the other")
	}
}

func TestMakeHasNoSpareCapacity(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 5, 7, 30, 1000} {
		v := &tree{}
		first := leafType.Make(Of(&v.Leaves), n)
		if len(v.Leaves) != n || cap(v.Leaves) != n || v.Leaves == nil {
			t.Fatalf("Make(%d) makes a slice of length %d and capacity %d", n, len(v.Leaves), cap(v.Leaves))
		}
		for i := range n {
			if !reflect.DeepEqual(v.Leaves[i], leaf{}) {
				t.Fatalf("Make(%d): element %d is not zero", n, i)
			}
			*As[int32](At(At(first, uintptr(i)*leafType.Size()), offset(leafType.Reflect(), "Small"))) = int32(i)
		}
		for i, l := range v.Leaves {
			if l.Small != int32(i) {
				t.Fatalf("element %d is %d", i, l.Small)
			}
		}
	}
}

func TestCopy(t *testing.T) {
	a, b := &tree{Name: "a", Leaves: []leaf{{Name: "l"}}}, &tree{}
	treeType.Copy(Of(b), Of(a))
	if !reflect.DeepEqual(a, b) {
		t.Error("Copy of a struct is not equal")
	}
	var p, q *leaf
	p = &leaf{Name: "p"}
	word := TypeOf(reflect.TypeFor[*leaf]())
	word.Copy(Of(&q), Of(&p))
	if p != q {
		t.Error("Copy of a pointer is not equal")
	}
	if got := treeType.Value(Of(b)).Interface().(tree); got.Name != "a" {
		t.Errorf("Value has name %q, want a", got.Name)
	}
}

// TestScratchAgainstAppend builds random trees of slices with one Scratch per type, and with
// append.
func TestScratchAgainstAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	leaves, words := leafType.NewScratch(), textType.NewScratch()
	in := reflect.TypeFor[leaf]()
	var text Text
	for round := range 200 {
		got, want := &tree{}, &tree{}
		start := text.Mark()
		mark := leaves.Len()
		for i := range r.IntN(40) {
			p := leaves.Push()
			l := leaf{Name: fmt.Sprint("leaf-", round, "-", i), Words: []string{}}
			text.Add(At(p, offset(in, "Name")), []byte(l.Name))
			wordMark := words.Len()
			wordText := text.Mark()
			for range r.IntN(20) {
				l.Words = append(l.Words, fmt.Sprint(r.Int()))
				text.Add(words.Push(), []byte(l.Words[len(l.Words)-1]))
			}
			words.Take(wordMark, At(p, offset(in, "Words")), &text, wordText)
			if i%7 == 0 { // also dropped elements and strings
				m, k := text.Mark(), leaves.Len()
				text.Add(At(leaves.Push(), offset(in, "Name")), []byte("dropped"))
				leaves.Drop(k)
				text.Drop(m)
			}
			want.Leaves = append(want.Leaves, l)
		}
		leaves.Take(mark, Of(&got.Leaves), &text, start)
		text.Set(start)
		runtime.GC()
		if want.Leaves == nil {
			want.Leaves = []leaf{}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d:\ngot  %+v\nwant %+v", round, got, want)
		}
		if len(text.fields) != 0 || len(text.buf) != 0 || leaves.Len() != 0 || words.Len() != 0 {
			t.Fatal("the scratch memory is not empty after Take and Set")
		}
	}
}

// TestScratchIsZeroed checks that pushed elements have nothing of earlier ones.
func TestScratchIsZeroed(t *testing.T) {
	s := leafType.NewScratch()
	for range 3 {
		for i := range 50 {
			l := As[leaf](s.Push())
			if l.Next != nil || l.Name != "" {
				t.Fatal("Push returns an element other than zero")
			}
			l.Next, l.Name = &leaf{}, "x"
			if i == 30 {
				s.Drop(10)
			}
		}
		var to []leaf
		s.Take(0, Of(&to), nil, TextMark{})
		if len(to) != 29 {
			t.Fatalf("Take makes a slice of %d elements, want 29", len(to))
		}
	}
}

// TestLargeBuffersAreNotKept builds one large slice.
func TestLargeBuffersAreNotKept(t *testing.T) {
	s := leafType.NewScratch()
	var text Text
	v := &tree{}
	for range 20000 {
		text.Add(At(s.Push(), offset(leafType.Reflect(), "Name")), []byte("something to remember"))
	}
	s.Take(0, Of(&v.Leaves), &text, TextMark{})
	text.Set(TextMark{})
	if len(v.Leaves) != 20000 || v.Leaves[12345].Name != "something to remember" {
		t.Error("Take makes another slice than was pushed")
	}
	room := 0
	for i := range s.chunks {
		room += firstChunk << i * int(leafType.Size())
	}
	if room > 2*maxKept || cap(text.buf) > maxKept || cap(text.fields) > maxKeptFields {
		t.Errorf("%d bytes of elements, %d bytes of text and %d text fields are kept", room, cap(text.buf), cap(text.fields))
	}
}

// TestTextMarksSeparateBlocks sets the strings of a part before those around it.
func TestTextMarksSeparateBlocks(t *testing.T) {
	var text Text
	v := &[4]string{}
	outer := text.Mark()
	text.Add(Of(&v[0]), []byte("before"))
	inner := text.Mark()
	text.Add(Of(&v[1]), []byte("part"))
	ok := text.AddUnquoted(Of(&v[2]), func(dst []byte) ([]byte, bool) { return append(dst, "unquoted"...), true })
	bad := text.AddUnquoted(Of(&v[2]), func(dst []byte) ([]byte, bool) { return append(dst, "bad"...), false })
	text.Set(inner)
	if v[0] != "" || v[1] != "part" || v[2] != "unquoted" || !ok || bad {
		t.Fatalf("strings after the inner Set: %q", v)
	}
	text.Add(Of(&v[3]), []byte("after"))
	text.Set(outer)
	if *v != [4]string{"before", "part", "unquoted", "after"} {
		t.Fatalf("strings after the outer Set: %q", v)
	}
	if n := testing.AllocsPerRun(100, func() {
		m := text.Mark()
		for i := range v {
			text.Add(Of(&v[i]), []byte("some text"))
		}
		text.Set(m)
	}); n != 1 {
		t.Errorf("a block allocates %v times, want 1", n)
	}
}

func TestView(t *testing.T) {
	b := []byte("view")
	if View(b) != "view" || View(nil) != "" || strings.Clone(View(b[1:1])) != "" {
		t.Error("View returns other text")
	}
}

func TestAllocations(t *testing.T) {
	v := &tree{}
	s, two := leafType.NewScratch(), new([2]leaf)
	for name, tc := range map[string]struct {
		want float64
		do   func()
	}{
		"New":  {1, func() { v.Next = As[leaf](leafType.New()) }},
		"Make": {1, func() { v.Leaves = nil; leafType.Make(Of(&v.Leaves), 3) }},
		"Copy": {0, func() { leafType.Copy(Of(&two[0]), Of(&two[1])) }},
		"Take": {1, func() {
			v.Leaves = nil
			s.Push()
			s.Push()
			s.Take(0, Of(&v.Leaves), nil, TextMark{})
		}},
	} {
		if n := testing.AllocsPerRun(100, tc.do); n != tc.want {
			t.Errorf("%s allocates %v times, want %v", name, n, tc.want)
		}
	}
}

// TestTextBlockSizes checks that strings are adjacent in blocks, and that each block but the last
// is nearly full.
func TestTextBlockSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	var text Text
	for range 2000 {
		want := make([]string, r.IntN(150))
		got := make([]string, len(want))
		for i := range want {
			want[i] = strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(80))
			text.Add(Of(&got[i]), []byte(want[i]))
		}
		text.Set(TextMark{})
		if !slices.Equal(got, want) {
			t.Fatalf("Set sets %q, want %q", got, want)
		}
		got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
		for i := 0; i < len(got); {
			start := reflect.ValueOf(got[i]).Pointer()
			size := 0
			for ; i < len(got) && reflect.ValueOf(got[i]).Pointer() == start+uintptr(size); i++ {
				size += len(got[i])
			}
			if size <= MaxBlock-80 && i < len(got) {
				t.Fatalf("a block other than the last has only %d bytes", size)
			}
		}
	}
}

// TestKeptStringKeepsOneBlock checks that no block exceeds MaxBlock, and that long strings have
// none.
func TestKeptStringKeepsOneBlock(t *testing.T) {
	var text Text
	v := &struct {
		long, unquoted string
		short          [1000]string
	}{}
	short := make([]string, len(v.short))
	text.Add(Of(&v.long), bytes.Repeat([]byte("x"), MaxShort+1))
	text.AddUnquoted(Of(&v.unquoted), func(dst []byte) ([]byte, bool) { return append(dst, make([]byte, MaxShort+1)...), true })
	for i := range v.short {
		short[i] = fmt.Sprintf("string number %d", i)
		text.Add(Of(&v.short[i]), []byte(short[i]))
	}
	if len(v.long) != MaxShort+1 || len(v.unquoted) != MaxShort+1 {
		t.Fatal("long strings are not set before Set")
	}
	for from, i := 0, 0; i < len(text.fields); {
		cut := text.cut(from, text.fields[i:])
		if cut <= from || cut-from > MaxBlock {
			t.Fatalf("a block has %d bytes, want 1 to %d", cut-from, MaxBlock)
		}
		for ; i < len(text.fields) && text.fields[i].end <= cut; i++ {
			from = text.fields[i].end
		}
	}
	text.Set(TextMark{})
	if !slices.Equal(v.short[:], short) {
		t.Error("Set sets other short strings")
	}
}
