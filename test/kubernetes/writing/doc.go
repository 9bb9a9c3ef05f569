// SPDX-License-Identifier: Apache-2.0

// Package writing has tests only: the promises of runtime/writer, on a kube-apiserver.
package writing
