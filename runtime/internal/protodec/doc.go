// SPDX-License-Identifier: Apache-2.0

// Package protodec decodes Kubernetes' protobuf into the Go types of objects, as their generated
// Unmarshal methods do but faster and into less memory: a [Program] is compiled for each type, all
// strings of an object are in one block, slices have no spare capacity, and objects can share equal
// parts.
//
// A [Decoder] accepts the output of API servers and declines input that is invalid, doubtful or
// rare: unordered fields, groups, wire types unfit for the field. For accepted input the result is
// the same as Unmarshal's. For declined input the caller calls Unmarshal, which decides whether it
// is an error.
package protodec
