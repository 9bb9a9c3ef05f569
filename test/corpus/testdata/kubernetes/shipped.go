// SPDX-License-Identifier: Apache-2.0

//go:build modules

package user

// What the project ships is required here, for the comparison. The build tag is never set: nothing of this is compiled.
import (
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"
)
