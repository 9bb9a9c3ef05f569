// SPDX-License-Identifier: Apache-2.0

// Package controllerruntime has only tests: controller-runtime's cache and
// adapter/controllerruntime's side by side in the same scenarios.
package controllerruntime
