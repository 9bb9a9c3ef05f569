// SPDX-License-Identifier: Apache-2.0

// Package probe measures this process: its time, its allocations, its heap and its goroutines.
package probe
