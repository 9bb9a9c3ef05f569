// SPDX-License-Identifier: Apache-2.0

// Package report is what the commands of bench have in common ([Program]): they run benchmarks,
// print a table, and write it into pages of the docs.
package report
