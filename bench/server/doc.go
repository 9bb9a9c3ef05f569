// SPDX-License-Identifier: Apache-2.0

// Package server has the collections that both sides read, each in the form that client-go reads
// and in the form that informer-gen reads ([Collection]).
//
// Over HTTP: [Serve] is the main function of a process that answers lists and watches with bytes
// that it has rendered before. [Show], [Begin] and [Move] are its commands, [Remote] reads it.
//
// In memory, without decoding: a [Script] sends events that were made beforehand, and a
// [RelistProducer] ends its watch so that a relist follows.
package server
