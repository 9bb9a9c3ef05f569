// SPDX-License-Identifier: Apache-2.0

// Package kubectl runs kubectl against a handler of watch caches, and against the API server that
// is the storage of its caches. Its output must be the same, except for ages. It has only tests.
//
// kubectl is the test's own binary, started again. A handler has no Tables: kubectl makes its own
// of the objects, with the columns NAME and AGE, as for a CRD without further columns.
package kubectl
