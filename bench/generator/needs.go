// SPDX-License-Identifier: Apache-2.0

//go:build never

package main

// The generators, and what they and the generated trees need, so that go.mod and go.sum have it.
// The tag is never set: this program is not to be linked with any of it.
import (
	_ "github.com/informer-gen/informer-gen/cmd/informer-gen"
	_ "github.com/informer-gen/informer-gen/runtime/informer"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/listers"
	_ "k8s.io/client-go/tools/cache"
	_ "k8s.io/code-generator/cmd/informer-gen"
	_ "k8s.io/code-generator/cmd/lister-gen"
)
