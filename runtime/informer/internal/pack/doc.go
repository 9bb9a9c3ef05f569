// SPDX-License-Identifier: Apache-2.0

// Package pack writes objects of one Go type as bytes, and makes the same objects of these bytes.
// It is for the memory of a cache, not for exchange: the bytes can be read only as a type of the
// same [Program.Description].
//
// A value that several objects refer to (what a pointer points to, a slice, a map, a string) is
// written once, and is one value again when it is read. So the objects take as much memory as
// before, and reading them costs less than decoding them. That a value is shared is known by its
// address. A first pass over all objects finds out which values are met more than once; the second
// one writes them.
//
// # Format
//
// All numbers are varints, as of package encoding/binary, except where a width is given.
//
//	struct     for each field that is not zero, in the order of memory:
//	           its distance from the field before, its value; then 0
//	string     the length << 2, the bytes
//	           the length << 2 | 1, the bytes: a string that is shared, the next one in number
//	           the number << 2 | 2: that string again
//	pointer,   0: nil
//	slice,     1, the value
//	map        2, the value, which is shared: the next one in number
//	           3 + the number: that value again
//	slice      its length, its elements; of bytes: its length, the bytes
//	map        its length; for each entry its key and its value
//	bool       1 byte; integers: a varint, zigzag if signed; floats: 4 or 8 bytes
//	time       its zone, the seconds since 1970, the nanoseconds
//	any        1 byte for its type, its value
//
// Fields of embedded structs count as fields of the struct around them. Elements that are no
// structs have no field numbers.
//
// # Ordering and blocking
//
// Nothing here waits or starts a goroutine. A [Writer] and a [Reader] serve one goroutine each.
// [Reader.Read] reads what was written in the order in which it was written; the bytes of later
// objects refer to values of earlier ones.
package pack
