// SPDX-License-Identifier: Apache-2.0

// This project is on the Kubernetes libraries v0.34.
package main

import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"
)

func main() {}
