// SPDX-License-Identifier: Apache-2.0

// Package corpus tests the generator on API types that are not ours, unedited: those of k8s.io/api,
// k8s.io/kube-aggregator, k8s.io/apiextensions-apiserver, sigs.k8s.io/gateway-api and
// github.com/cert-manager/cert-manager. It has only tests.
//
// Each project gets a module of its own below _work, as a user would make one: a go.mod, what
// "informer-gen init" writes, and the indexes of testdata/PROJECT/informer-gen.yaml. What is
// generated there is vetted, its types are compared with the informers, listers and clients that
// the project itself ships, and the tests in testdata/PROJECT run it.
//
//	project ─▶ go tool informer-gen init ─▶ + indexes ─▶ go tool informer-gen
//	                                                          │
//	    go vet ◀──────────────────────────────────────────────┤
//	    go/types, beside the project's own informers ◀────────┤
//	    go test, over the devserver or sourcetest ◀───────────┘
//
// Of two projects with older Kubernetes libraries, only the types are checked, beside
// controller-runtime; they must keep these libraries.
package corpus
