// SPDX-License-Identifier: Apache-2.0

// Package storagesuite runs the suites of k8s.io/apiserver/pkg/storage/testing against watch
// caches. It has only tests.
//
// API servers run these suites against etcd and against their own watch cache, through the
// interface of both, [k8s.io/apiserver/pkg/storage.Interface]. Here a store implements it: reads
// and watches are a watch cache's, writes its storage's, which is in memory or in an etcd embedded
// in the test.
//
//	suite ─▶ store ┬ Get, GetList, Watch ───────────▶ watchcache.Cache ◀─ follows ─┐
//	               └ Create, GuaranteedUpdate, Delete ─▶ memory.Storage, etcd.Storage ┘
//
// Pods that can't be decrypted or decoded are the store's responsibility: the cache and the
// storages keep and deliver their bytes, and delete them without looking.
//
// A test of its own compares the answers of an unfilled cache with those of an API server's cache:
// a whole API server can't be made to give them reliably.
//
// Suites that are not run are in testdata/not-applicable.txt, with the reason. A test compares the
// file with the package's exports.
package storagesuite
