// SPDX-License-Identifier: Apache-2.0

// Package share lets objects decoded one after the other share equal parts. A part is the value
// behind a field that is a slice, a map or a pointer. Its site, which is a field of a type, and its
// encoded bytes identify it: equal bytes at one site are equal values. So a part is found before it
// is decoded.
//
// A [Table] belongs to one source of objects and serves any number of goroutines. Each of them
// finds parts with a [Finder], by a hash of their bytes. A part is kept when its bytes are seen for
// the second time, so values that don't repeat take no memory.
//
// Shared values must never be changed. If a program changes a part by mistake, all objects with the
// part are wrong, but not those decoded later: before a part is used, it is compared with its
// original, once in a round, and a changed part is never used again. For that, a [Part] records all
// memory it refers to. A round begins with a response, and when bytes arrive after a pause. Without
// pauses, rounds are so rare that comparing takes at most a fiftieth of the time: every few
// milliseconds for a thousand parts in use. So a change within one round may still appear in an
// object decoded in that round, until the server sends the object again.
//
//	Table   Part     slices, maps, targets of pointers; found by bytes, forgotten if too many
//	        targets  numbers, booleans and strings behind pointers; found by value, kept
//	Check   compares all of them, for a caller that wants to reuse its objects: after a
//	        change, any of these may have the changed value
//
// [Table.Check] doesn't find changes of forgotten parts, even if objects still have them. Writing
// to a part while it is compared is a data race, as with any other reader; in a map it may end the
// process. Maps are therefore compared last, and only if their length has not changed.
package share
