// SPDX-License-Identifier: Apache-2.0

// Package interop has only tests: controllers of other projects, unchanged, on informers of this
// project and on client-go's. Each does its work on both, and leaves the same objects behind.
package interop
