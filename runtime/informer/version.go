// SPDX-License-Identifier: Apache-2.0

package informer

// IsAtLeastV0_1 is used by code that was generated for runtime v0.1 or later. A package that does
// not compile because such a constant is missing was generated for a newer runtime than the one in
// go.mod: run "go get github.com/informer-gen/informer-gen@latest".
const IsAtLeastV0_1 = true
