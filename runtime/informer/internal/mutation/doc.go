// SPDX-License-Identifier: Apache-2.0

// Package mutation finds code that changes objects of a cache, which are shared and read-only.
//
// A [Detector] keeps a deep copy of each stored object, and compares it with the object: before and
// after each callback, to name a handler that changed the object, and again and again over the
// whole cache, to find changes by other code. It reports the first field that differs, and never
// the field's value. A change of a part shared by several objects is reported for each of them.
//
// # Costs
//
// Memory: a second copy of every object, without sharing. Objects that have left the cache are kept
// for up to two more passes over all objects, a few seconds for most caches.
//
// Time: a deep copy and a comparison of each stored object (6 µs for a small Pod), a comparison of
// each object before and after every callback that gets it (4 µs), and the passes, at most a tenth
// of a core.
//
// # Limits
//
// It misses changes undone before the next comparison, and changes of parts that DeepCopyObject
// shares instead of copying. It also misses changes of an object that has left the cache, if made
// after the next two passes and outside of callbacks; no other code gets such an object from the
// cache any more.
//
// It reads objects while other goroutines may be changing them. The race detector shows such a
// change too, with both stacks. If a map is written while the Detector reads it, Go may end the
// process, as with any other reader.
package mutation
