// SPDX-License-Identifier: Apache-2.0

// Package sharding has tests of rings (runtime/manager/shard) with processes: each is this test
// binary again, behind a TCP proxy, at an API server that looks for overlaps.
package sharding
