// SPDX-License-Identifier: Apache-2.0

// Package controllerruntime has tests only: controller-runtime's cache and the one of
// adapter/controllerruntime, side by side in the same scenarios.
package controllerruntime
