// SPDX-License-Identifier: Apache-2.0

// Package refusals compares the rules, defaults and columns that devserver has for built-in kinds
// with those of a kube-apiserver.
package refusals
