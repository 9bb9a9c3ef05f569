// SPDX-License-Identifier: Apache-2.0

// Package endpoints compares examples/endpoints-controller with Kubernetes' own endpoints
// controller: random histories of a Service and its Pods are played to both, which must leave equal
// Endpoints behind, apart from the trigger time.
//
//	seed ─▶ history ─┬▶ API server ◀─▶ Kubernetes' controller ─▶ Endpoints ─┬▶ equal?
//	                 └▶ API server ◀─▶ ours ───────────────────▶ Endpoints ─┤
//	                                   endpoints.Desired ───────────────────┘
//
// The API server is in memory, in time that passes at once, or a kube-apiserver (see package
// kubeserver), which refuses invalid objects.
//
// The module is outside of go.work, because Kubernetes' modules would hold all others back at their
// own versions. From the root of the repository, these run it, the second at greater length:
//
//	.ci/run kubernetes
//	GOWORK=off go -C test/kubernetes test -timeout 1h ./endpoints -histories 10000 -cluster 500
package endpoints
