// SPDX-License-Identifier: Apache-2.0

//go:build modules

package user

// What the project ships is required here, for the comparison. The build tag is never set: nothing of this is compiled.
import (
	_ "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"
	_ "sigs.k8s.io/gateway-api/pkg/client/informers/externalversions"
)
