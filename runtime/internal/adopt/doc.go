// SPDX-License-Identifier: Apache-2.0

// Package adopt makes objects of a program's own, as those that a transform function returns, into
// objects of a cache: copies that share equal parts with those adopted before, as decoded objects
// do, and have the rest in memory exactly as large as it is. The object itself is only read,
// because the program may have put things into it that are also elsewhere.
//
//	ProgramOf   finds out how a type looks: where it has strings and references to other memory
//	write       writes an object down, in one pass: a part of it is the bytes from here to there
//	share       knows by these bytes which parts are in memory already
//	read        copies the object; parts that are known are taken, and what is in them is left out
//
// What has no exported name is copied as the memory that it is, with the pointers in it, and is the
// same only if they are: it is not known what it means. So are channels, functions, interfaces with
// methods, pointers to structs with fields that are not exported, and maps whose keys are not
// strings. Times and quantities are known.
package adopt
