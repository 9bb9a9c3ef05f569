// SPDX-License-Identifier: Apache-2.0

// Package harness runs benchmarks: each run of each side in a process of its own ([Children]),
// beside the process of a server ([Server]) if the benchmark has one. It compares the sides'
// results and sums up the measurements ([Row]).
//
// The processes are the same executable again. So its main function, and TestMain of tests, call
// [PlayRole] first.
package harness
