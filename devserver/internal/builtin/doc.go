// SPDX-License-Identifier: Apache-2.0

// Package builtin serves built-in kinds of Kubernetes, as storage: objects are validated as far as
// their metadata goes, stored in etcd, and served by a cluster's code (k8s.io/apiserver's generic
// registry), in JSON, YAML and protobuf.
//
// The version v1 of each kind is also its internal version, so nothing is converted. Events are the
// exception: core's and events.k8s.io's share a storage but have two Go types.
package builtin
