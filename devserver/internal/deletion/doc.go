// SPDX-License-Identifier: Apache-2.0

// Package deletion does what follows a deletion in a cluster: [Namespaces] removes what is in a
// namespace that is deleted, and [Garbage] what belongs to an object that is gone. Both are clients
// of the API server, and decide by what they read from it.
//
// Each has a method Run, which owns all goroutines and returns when they have ended.
package deletion
