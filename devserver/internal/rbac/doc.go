// SPDX-License-Identifier: Apache-2.0

// Package rbac authorizes requests by Roles, ClusterRoles and their bindings, as kube-apiserver
// does with --authorization-mode=RBAC.
//
// It reads the objects for each request, so a right is in force as soon as it is written.
package rbac
