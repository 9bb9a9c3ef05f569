// SPDX-License-Identifier: Apache-2.0

// Package rbactest compares the requests of a program in tests with its RBAC roles. It finds
// missing rules, which otherwise only a cluster does, and unused ones.
//
//	var requests rbactest.Recorder // of all tests of this package
//
//	func TestMain(m *testing.M) {
//		os.Exit(requests.Checked(m, "testdata/role.yaml").Run())
//	}
//
//	func TestProgram(t *testing.T) {
//		server := sourcetest.New()
//		maps := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
//		maps.Create(configMap("blue"))
//		program, err := startProgram(t.Context(), requests.Config(server.Config()))
//		if err != nil {
//			t.Fatal(err)
//		}
//		if err := program.Shutdown(t.Context()); err != nil {
//			t.Error(err)
//		}
//	}
//
// A [Recorder] records the requests of clients made from [Recorder.Config], on their way to any API
// server: package sourcetest's, devserver, envtest or a cluster. The test makes its own clients
// from the configuration without a recorder, so its requests need no rule.
//
// A fitting role has the rights used by the tests, not all that the program might use. A controller
// needs get to read an object again after a conflict, so a test has to cause a conflict. Package
// sourcetest does, by a Fault.
//
// # Needs of requests
//
// A request needs the rights checked by an API server's authorizer. In addition, a watch that asks
// for initial events needs list, which clients fall back to, and an update or patch that created an
// object needs create. Discovery and reviews of the own access need no rule, because every user has
// them. Requests as another user, by impersonation, aren't recorded.
//
// # Roles
//
// The rules of all ClusterRoles and Roles of all files count together. A Role allows requests in
// any one namespace, because tests use other namespaces than clusters. An aggregated ClusterRole
// needs the files of the selected ClusterRoles.
//
// Requests can't show the use of verbs such as bind, escalate and use, or of update for
// subresources named finalizers, which admission checks. They are never called unused. Nor is a
// rule below a comment that begins with "keep:":
//
//	rules:
//	# keep: the tests elect no leader
//	- apiGroups: [coordination.k8s.io]
//	  resources: [leases]
//	  verbs: [create, get, update]
//
// # Several packages
//
// If the tests of several packages use one role, no package can find unused rules. Each calls
// [Recorder.CheckMissing], or checks nothing, and this command joins their records. It compares
// them with the role, or with --write, writes it:
//
//	go tool informer-gen rbac config/rbac/role.yaml -- go test ./...
//	go tool informer-gen rbac --write config/rbac/role.yaml -- go test ./...
//
// Below this command, recorders write to the folder named by the environment variable
// INFORMER_GEN_RBAC, and the checks of this package pass.
package rbactest
