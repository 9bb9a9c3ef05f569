// SPDX-License-Identifier: Apache-2.0

//go:build modules

package user

// What the project ships is required here, for the comparison. The build tag is never set: nothing of this is compiled.
import (
	_ "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	_ "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
)
