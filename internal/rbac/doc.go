// SPDX-License-Identifier: Apache-2.0

// Package rbac compares the requests of a program with the rules of its roles, and edits the roles.
// Package testkit/rbactest records the requests, and the command informer-gen rbac uses both.
//
// A [File] has the ClusterRoles and Roles of a YAML file. Their rules are taken together, as if all
// were bound to the program. A Role allows requests in any one namespace, because tests use other
// namespaces than clusters.
//
// No rule is unused because of verbs without requests, such as bind, escalate and use, or of
// subresources named finalizers, which admission plugins check: requests can't show their use. The
// same holds for a rule below a comment that begins with "keep:".
package rbac
