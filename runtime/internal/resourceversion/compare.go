// SPDX-License-Identifier: Apache-2.0

// Package resourceversion orders the resourceVersions of one resource (KEP-5504). apimachinery's
// package of that name is younger than the oldest apimachinery supported by the module.
package resourceversion

import (
	"cmp"
	"fmt"
	"strings"
)

// Compare returns -1, 0 or 1 as a is before, at or after b, or an error that quotes the first
// invalid one. A version is a positive decimal number of any length, without leading zeros, so
// neither "" nor "0" is valid.
func Compare(a, b string) (int, error) {
	for _, version := range [...]string{a, b} {
		if !valid(version) {
			return 0, fmt.Errorf("%q is not a resourceVersion: not a positive decimal number without leading zeros", version)
		}
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)), nil
}

func valid(version string) bool {
	if version == "" || version[0] == '0' {
		return false
	}
	for i := range len(version) {
		if version[i] < '0' || version[i] > '9' {
			return false
		}
	}
	return true
}
