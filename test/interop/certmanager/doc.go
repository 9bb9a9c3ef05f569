// SPDX-License-Identifier: Apache-2.0

// Package certmanager has a test only: cert-manager's controllers, unchanged, on informers of this
// project and on client-go's.
package certmanager
