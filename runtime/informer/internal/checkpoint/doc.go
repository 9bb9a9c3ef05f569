// SPDX-License-Identifier: Apache-2.0

// Package checkpoint keeps the state of a collection in a file: its objects, and their
// resourceVersion. A process that starts again reads it instead of listing.
//
//	magic      "informer checkpoint 4\n"
//	head       the identity, a random number, the number of objects, the time, the resourceVersion
//	objects
//	checksum   of all this
//
// Objects are written as the ADDED events of a watch, in protobuf if the type has that, else in
// JSON, and read by the decoder of the server's answers. So a restored object is checked like one
// from the server, and shares its parts with them.
//
// A second file, beside it, records a later version with the same objects, after a call of
// [File.Advance]. If its random number is not that of the first file, it is ignored.
//
//	magic      "informer checkpoint 4\n"
//	version    the random number of the first file, the time, the resourceVersion
//	checksum   of all this
//
// A file that was cut off, changed at any byte, or continued with parts of another file is found to
// be wrong: the checksum covers the random number. It is checked at the end, so objects of a
// damaged file may be read, but never without an error.
//
// # Crashes
//
// A file is written under a temporary name, synced, and renamed; then the directory is synced. So
// at any moment there is a whole file, the old one or the new one, or none. If several processes
// write, the last rename wins. After a crash, the two files belong together, or the second one is
// ignored.
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
