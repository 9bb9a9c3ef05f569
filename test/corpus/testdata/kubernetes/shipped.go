// SPDX-License-Identifier: Apache-2.0

//go:build modules

package user

// The imports keep the compared packages in go.mod. The build tag is never set, so this file is not compiled.
import (
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"
)
