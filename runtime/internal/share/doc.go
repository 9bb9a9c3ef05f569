// SPDX-License-Identifier: Apache-2.0

// Package share lets objects that are decoded one after the other share equal parts. A part is what a field of a slice, a map or a
// pointer refers to. It is known by its site, which is a place in a type, and by the bytes that it was decoded from: equal bytes at
// one site are equal values. So it is found before it is decoded, which saves its memory and the work.
//
// A Table belongs to one source of objects and serves any number of goroutines. Each of them decodes with a Trail, which predicts
// parts: after this part came that one last time. A right prediction costs a comparison of bytes and nothing else; only a wrong
// one costs a hash. A part is kept from the second time on that its bytes are seen, so what doesn't repeat takes no memory. Sites
// at which too little repeats are left alone for a while.
//
// Values that are shared must never be changed by anyone.
package share
