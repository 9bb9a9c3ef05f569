// SPDX-License-Identifier: Apache-2.0

// Package realserver has tests of informers that every real API server passes. They install a
// CustomResourceDefinition of their own.
package realserver
