// SPDX-License-Identifier: Apache-2.0

// Package rig makes informers of either side that a benchmark starts, asks and stops in the same
// way ([Rig]). A [Subject] is one whose handler counts its events, a [Fleet] is several of them.
package rig
