// SPDX-License-Identifier: Apache-2.0

package etcd

// StartEtcd is for the examples, which are in package etcd_test.
var StartEtcd = startEtcd
