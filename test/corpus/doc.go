// SPDX-License-Identifier: Apache-2.0

// Package corpus tests the generator on unedited API types of other projects: k8s.io/api,
// k8s.io/kube-aggregator, k8s.io/apiextensions-apiserver, sigs.k8s.io/gateway-api and
// github.com/cert-manager/cert-manager. It has only tests.
//
// Each project gets a module of its own below _work, as a user would make one: a go.mod, the files
// of "informer-gen init", and the indexes of testdata/PROJECT/informer-gen.yaml. The generated code
// is vetted, its types are compared with the informers, listers and clients shipped by the project,
// and the tests in testdata/PROJECT run it.
//
//	project ─▶ go tool informer-gen init ─▶ + indexes ─▶ go tool informer-gen
//	                                                          │
//	    go vet ◀──────────────────────────────────────────────┤
//	    go/types, beside the project's own informers ◀────────┤
//	    go test, over the devserver or sourcetest ◀───────────┘
//
// Two projects with older Kubernetes libraries are only type-checked, beside controller-runtime;
// they must keep these libraries.
package corpus
