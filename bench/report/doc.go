// SPDX-License-Identifier: Apache-2.0

// Package report is the common part of bench's commands ([Program]): they run benchmarks, print a
// table, and write it into pages of the docs.
package report
