// SPDX-License-Identifier: Apache-2.0

// Package builtin serves kinds that Kubernetes has built in, as storage: what a client writes is
// validated as far as its metadata goes, stored in etcd and served by the code that serves it in a
// cluster (k8s.io/apiserver's generic registry), in JSON, YAML and protobuf.
//
// The version v1 of each kind is also its internal version, so that there is nothing to convert.
// Events are the exception: those of core and of events.k8s.io are one storage of two Go types.
package builtin
