// SPDX-License-Identifier: Apache-2.0

// Shard measures a ring (runtime/manager/shard): the time without a worker for a bucket, during a
// move and after a crash, and the costs of a ring. It ends with 1 if a mark is missed.
//
//	go run ./bench/shard
//
// All members are in this process, and so is the server, in memory (testkit/sourcetest): requests
// take microseconds, so the times are those of the protocol. 16 namespaces have 1,000 ConfigMaps
// each; a ring of 64 buckets, by namespace, has at most a few of them in a bucket. The reconcile of
// one key of each namespace comes again after 2 ms, so a gap is measured to that.
//
// planned move: from the last reconcile in a namespace by the old member until the first by the
// new one, when members join one after the other. crash: from the moment in which nothing leaves a
// member any more until another one reconciles in a namespace of it.
//
// # Beside a sharder outside of the controllers
//
// The evaluation of timebertt/kubernetes-controller-sharding measures no moves and no crashes. It
// has 3 shards beside a controller that isn't sharded, with up to 9,000 objects: in the last three
// minutes each shard has 75 to 86 MB of memory of the 234 MB, 0.32 to 0.37, and 0.29 to 0.35 cores
// of 0.81; the two sharders together have 35 MB and 0.06 cores. See
// https://github.com/timebertt/masters-thesis-controller-sharding/tree/801d027a/results/basic and
// https://github.com/timebertt/kubernetes-controller-sharding/blob/main/docs/evaluation.md.
package main
