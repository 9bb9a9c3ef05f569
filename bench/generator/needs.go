// SPDX-License-Identifier: Apache-2.0

//go:build never

package main

// The requirements of the generators and the generated trees, for go.mod and go.sum. The tag is
// never set: this program must not link any of them.
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
