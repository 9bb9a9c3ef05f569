// SPDX-License-Identifier: Apache-2.0

// Package kubernetes has only tests: Kubernetes' own controllers, unchanged, on informers of this
// project and on client-go's, against a kube-apiserver. They do the same work on both, and leave
// the same objects behind.
//
// The module is outside of go.work, because Kubernetes' modules would hold all others back at their
// own versions. `.ci/run kubernetes` runs it.
package kubernetes
