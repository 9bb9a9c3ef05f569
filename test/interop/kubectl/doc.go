// SPDX-License-Identifier: Apache-2.0

// Package kubectl has only tests: kubectl, unchanged, against the built-in kinds of devserver.
package kubectl
