// SPDX-License-Identifier: Apache-2.0

// Package protodec decodes Kubernetes' protobuf into the Go types of objects, as their generated
// Unmarshal methods do but faster and into less memory: a Program knows how a type is laid out,
// strings of an object are one block, slices have no spare room, and equal parts of objects can be
// shared.
//
// A Decoder takes what API servers send and declines what is invalid, doubtful or rare: fields that
// are not in ascending order, groups, wire types that the type's field doesn't have. What it takes
// has the result that Unmarshal has. What it declines is for Unmarshal, which has the last word on
// what is an error.
package protodec
