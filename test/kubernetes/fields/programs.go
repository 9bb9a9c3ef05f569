// SPDX-License-Identifier: Apache-2.0

//go:build programs

package fields

// The programs that the tests read. They are imported so that go.mod has their modules.
import (
	_ "k8s.io/kubernetes/pkg/controller/endpoint"
	_ "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"

	_ "github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler"
)
