// SPDX-License-Identifier: Apache-2.0

package layout

import "reflect"

// Maker allocates values of one type as a [Type] does. It is quicker, and serves one goroutine.
type Maker struct {
	// Set once at construction.
	list  *Slice        // what was allocated
	value reflect.Value // list, as a slice of the type
}

// NewMaker returns a Maker.
func (t *Type) NewMaker() *Maker {
	m := &Maker{list: new(Slice)}
	m.value = reflect.NewAt(t.slice(), Pointer(m.list)).Elem()
	return m
}

// New is as that of Type.
func (m *Maker) New() Pointer { return m.grow(1) }

// Make is as that of Type.
func (m *Maker) Make(field Pointer, n int) Pointer {
	data := Pointer(&zero)
	if n > 0 {
		data = m.grow(n)
	}
	*(*Slice)(field) = Slice{data, n, n}
	return data
}

// grow allocates n values. Finding a type's pointer type, which reflect.New and reflect.NewAt do,
// takes as long as allocating a small value.
func (m *Maker) grow(n int) Pointer {
	m.value.Grow(n)
	data := m.list.Data
	*m.list = Slice{}
	return data
}
