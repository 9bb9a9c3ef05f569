// SPDX-License-Identifier: Apache-2.0

// Package builtin serves built-in kinds of Kubernetes, as storage: objects are defaulted,
// validated, stored in etcd, and served by a cluster's code (k8s.io/apiserver's generic registry),
// in JSON, YAML and protobuf.
//
// The files kinds_*.go are the table of kinds. To add one, add its row there, its group to
// newScheme, its defaults to defaults*.go, its rules to validate_*.go, its columns to columns_*.go,
// and a file to devserver/testdata/kinds, which the tests of all kinds read.
//
// The served version of each kind is also its internal version, so nothing is converted. Two kinds
// are exceptions, with one storage and two Go types: events of core and of events.k8s.io, and
// horizontalpodautoscalers of autoscaling/v2 and v1.
package builtin
