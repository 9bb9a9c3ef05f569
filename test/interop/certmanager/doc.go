// SPDX-License-Identifier: Apache-2.0

// Package certmanager has one test: cert-manager's controllers, unchanged, on informers of this
// project and on client-go's.
package certmanager
