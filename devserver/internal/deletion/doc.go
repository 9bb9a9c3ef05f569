// SPDX-License-Identifier: Apache-2.0

// Package deletion follows up deletions, as in a cluster: [Namespaces] removes the content of
// deleted namespaces, and [Garbage] the dependents of objects that are gone. Both are clients of
// the API server, and decide by its answers.
//
// Each has a method Run, which owns all goroutines and returns when they have ended.
package deletion
