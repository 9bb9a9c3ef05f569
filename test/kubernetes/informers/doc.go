// SPDX-License-Identifier: Apache-2.0

// Package informers tests informers on a kube-apiserver.
package informers
