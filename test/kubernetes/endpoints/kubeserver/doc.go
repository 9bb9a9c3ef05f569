// SPDX-License-Identifier: Apache-2.0

// Package kubeserver runs a kube-apiserver with its etcd for tests, in a child process: the test's
// own binary, started again. So a test needs no other binary, and its process has no trace of the
// server.
//
//	func TestMain(m *testing.M) {
//		kubeserver.Main() // does not return in the child process
//		os.Exit(m.Run())
//	}
//
// The server validates, defaults and stores as a cluster's does. Nothing else of a cluster runs:
// there are no controllers, no scheduler, no kubelets and no garbage collector. Everyone with the
// token may do everything.
package kubeserver
