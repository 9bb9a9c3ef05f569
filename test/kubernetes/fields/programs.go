// SPDX-License-Identifier: Apache-2.0

//go:build programs

package fields

// The programs read by the tests. The imports keep their modules in go.mod.
import (
	_ "k8s.io/kubernetes/pkg/controller/endpoint"
	_ "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"

	_ "github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler"
)
