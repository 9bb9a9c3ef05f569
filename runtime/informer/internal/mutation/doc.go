// SPDX-License-Identifier: Apache-2.0

// Package mutation finds out who changes objects of a cache, which are shared and must only be
// read.
//
// A Detector keeps a deep copy of each object that is stored, and compares: the objects of a
// callback before and after it, so that the handler that changes one is named, and all objects of
// the cache time and again, for what others do. It reports which field differs first, and never
// what it holds. Objects may share parts: a change of such a part is reported for each of them.
//
// # What it costs
//
// Memory for a second copy of every object, in which nothing is shared, and of what has left the
// cache since the last pass but one over all objects, which is a few seconds for most caches. Time
// for a deep copy and a comparison of each object that is stored (6 µs for a small Pod), for a
// comparison of each object before and after every callback that gets it (4 µs), and for the passes
// a tenth of a core at most. So it is for tests, CI, and the search for a fault.
//
// # What it can't see
//
// A change that is undone before anybody looks. A part that DeepCopyObject does not copy but
// shares. A change of an object that left the cache, if it is made after the next two passes and
// outside of callbacks; nobody else reads such an object.
//
// It reads objects while others may be changing them. The race detector shows that too, with both
// stacks. A map that is being written at that moment may end the process, as it may whenever
// somebody reads it.
package mutation
