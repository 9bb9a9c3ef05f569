// SPDX-License-Identifier: Apache-2.0

// Package checkpoint keeps the state of a collection in a file: its objects, and their
// resourceVersion. A process that starts again reads it instead of listing.
//
//	magic      "informer checkpoint 4\n"
//	head       the identity, a random number, the number of objects, the time, the resourceVersion
//	objects
//	checksum   of all this
//
// Objects are written as the events of a watch that adds them, in protobuf if the type has that,
// else in JSON, and read by the decoder of the server's answers. So a restored object is checked
// like one from the server, and shares its parts with them.
//
// A second file, beside it, records a later version with the same objects. It is there if
// [File.Advance] was called since the first one was written. If its random number is not that of
// the first file, it is about another one, and is ignored.
//
//	magic      "informer checkpoint 4\n"
//	version    the random number of the first file, the time, the resourceVersion
//	checksum   of all this
//
// A file that was cut off, or changed at any byte, or goes on with parts of another file, is not
// taken for a whole one: the checksum covers the random number. It is found wrong at the end, so
// objects of a damaged file may be read, but never without an error.
//
// # Crashes
//
// A file is written under a temporary name, synced, and renamed; then the directory is synced. So
// at any moment there is a whole file, the old one or the new one, or none. Several processes may
// write to one directory: the last rename wins, and each file is whole. After a crash, the two
// files belong together, or the second one is ignored.
//
// # Identity
//
// A file is read only by an informer of the same [Config], whose Go type has the same fields, of
// the same types and tags. The file's name is a hash of the Config without Build.
//
// # Ordering and blocking
//
// [File.Read], [File.Write] and [File.Advance] wait for the disk. Read calls back on the caller's
// goroutine, and may decode on others, which have ended when it returns. Read and Write take about
// half a megabyte besides the memory of the objects.
package checkpoint
