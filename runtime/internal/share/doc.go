// SPDX-License-Identifier: Apache-2.0

// Package share lets objects that are decoded one after the other share equal parts. A part is what
// a field of a slice, a map or a pointer refers to. It is known by its site, which is a place in a
// type, and by the bytes that it was decoded from: equal bytes at one site are equal values. So it
// is found before it is decoded, which saves its memory and the work.
//
// A Table belongs to one source of objects and serves any number of goroutines. Each of them
// decodes with a Predictor, which predicts parts: after this part came that one last time. A right
// prediction costs a comparison of bytes and nothing else; only a wrong one costs a hash. A part is
// kept from the second time on that its bytes are seen, so what doesn't repeat takes no memory.
// Sites at which too little repeats are left alone for a while.
//
// Values that are shared must never be changed. If a program does so by mistake, through one object
// that has a part, others that have it are wrong, too, but no object that comes later: before a
// part is used, it is compared with what it was, and one that has changed is never used again. For
// that, a Part knows all memory that it refers to. The comparison takes some tens of nanoseconds,
// and there is one for each part in a round. Rounds begin when bytes come after a pause, and else
// so rarely that comparing takes at most a fiftieth of the time: a few milliseconds for a thousand
// parts that are in use. So what a program does less than that before the server sends an object
// may still be seen in it, until the server sends it again.
//
//	Table   Part     slices, maps, what pointers point to: found by bytes, forgotten when there are too many
//	        targets  numbers, booleans and strings behind pointers: found by value, never forgotten
//	Check   compares all of them, for who has objects from before: if one has changed, any of these may have it
//
// Parts that are forgotten, while objects still have them, are not compared any more: a change of
// one of them is not found by Check. Writing to a part while it is compared is a data race, as it
// is with any other reader; in a map it may end the process. Maps are therefore compared last, and
// only if their length is what it was. Where parts are changed again and again, none are made any
// more.
package share
