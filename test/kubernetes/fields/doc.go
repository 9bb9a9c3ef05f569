// SPDX-License-Identifier: Apache-2.0

// Package fields compares what "informer-gen fields" finds in controllers that others have written
// with what a reader of their code names.
package fields
