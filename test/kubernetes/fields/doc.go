// SPDX-License-Identifier: Apache-2.0

// Package fields compares the findings of "informer-gen fields" in other projects' controllers with
// those of a reader of their code.
package fields
