// SPDX-License-Identifier: Apache-2.0

// This project is on controller-runtime v0.24. Its main is replaced by README's program.
package main

import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"
	_ "sigs.k8s.io/controller-runtime"

	_ "example.com/shop/api/v1"
)

func main() {}
