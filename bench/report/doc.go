// SPDX-License-Identifier: Apache-2.0

// Package report writes what was measured: as a table ([Printer]), and into the pages and pictures
// of the docs ([Pages]), which show rows of that table.
package report
