// SPDX-License-Identifier: Apache-2.0

// Package adopt copies objects made by a program, such as those returned by a transform function,
// for a cache. A copy shares equal parts with objects adopted before, as decoded objects do, and
// its other memory is exactly as large as needed. The original is only read, because the program
// may also use its values elsewhere.
//
//	ProgramOf   compiles a type: where it has strings and references to other memory
//	write       writes the object to a buffer, in one pass; a part is a range of these bytes
//	share       finds parts in memory already, by these bytes
//	read        copies the object; a part that was found is used as it is, not copied
//
// Unexported fields are copied as raw memory with the pointers in it, since their meaning is
// unknown; two such values are equal only if their pointers are. The same holds for channels,
// functions, interfaces with methods, pointers to structs with unexported fields, and maps whose
// keys are not strings. Times and quantities are exceptions: this package knows them.
package adopt
