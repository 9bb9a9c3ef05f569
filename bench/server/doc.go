// SPDX-License-Identifier: Apache-2.0

// Package server has the collections that both sides read, each in client-go's and in
// informer-gen's form ([Collection]).
//
// Over HTTP: [Serve] is the main function of a process that answers lists and watches with bytes
// rendered before. [Show], [Begin] and [Move] are its commands, [Remote] reads it.
//
// In memory, without decoding: a [Script] sends events made beforehand, and a [RelistProducer] ends
// its watch so that a relist follows.
package server
