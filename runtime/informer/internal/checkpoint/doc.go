// SPDX-License-Identifier: Apache-2.0

// Package checkpoint keeps the state of a collection in a file: its objects, and the
// resourceVersion of which they are true. A process that starts again reads it instead of listing.
//
//	magic      "informer checkpoint 4\n"
//	head       the identity, a random number, how many objects there are, the time, the
//	           resourceVersion
//	objects
//	checksum   of all this
//
// Objects are written as the events of a watch that adds them, in protobuf if the type has that,
// else in JSON, and the decoder that reads the server's answers reads them. So a restored object
// is checked as one from the server is, and shares its parts with them.
//
// A second file, beside it, records that the same objects are true of a later version, too. It is
// there if [File.Advance] was called since the first one was written. If its random number is not
// that of the first file, it is about another one, and is not believed.
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
// A file is written beside its place, synced, and renamed to it; then the directory is synced. So
// at any moment the place has a whole file, the old one or the new one, or none. Several processes
// may write to one directory: the last rename wins, and each file is whole. Whatever a crash leaves
// of the two files, they belong together, or the second one is not believed.
//
// # Identity
//
// A file is believed only by an informer of the same [Config], whose Go type has the same fields,
// of the same types and tags. The name of the file is a hash of the Config without Build.
//
// # Ordering and blocking
//
// [File.Read], [File.Write] and [File.Advance] wait for the disk. Read calls back on the caller's
// goroutine, and may decode on others, which have ended when it returns. Read and Write take
// half a megabyte or so besides the memory of the objects.
package checkpoint
