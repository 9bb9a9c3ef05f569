// SPDX-License-Identifier: Apache-2.0

// Package rig makes informers of either side that a benchmark starts, asks and stops in the same
// way ([Rig]). A [Subject] has a handler that counts its events; a [Fleet] is several subjects.
package rig
