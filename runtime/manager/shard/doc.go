// SPDX-License-Identifier: Apache-2.0

// Package shard divides the work of controllers over the replicas of a program, by Leases of the
// API server, and cuts off the requests of a replica for work it has lost.
//
//	ring, err := shard.New(config, shard.Options{Namespace: "shop", Name: "widgets"})
//	if err != nil { … }
//	factory := factories.New(client, informer.WithRing(ring))
//	m, err := manager.New(manager.Options{Config: config, Factory: factory, Ring: ring})
//
// The manager's Sharded controllers take part, made with controller.Options{Ring: ring}. Those of
// other libraries take part by [Ring.NewWork]; adapter/controllerruntime does that for
// controller-runtime.
//
// # Words
//
// A member is one process in the ring; a restarted process is another member. A bucket is
// one of Options.Buckets parts of all keys. The table says which member owns which bucket. An epoch
// is the number of a grant: each grant of a bucket has a higher one. The coordinator, one of the
// members, writes the table; package election elects it. A spare keeps the objects of a bucket
// without working on it.
//
// # Guarantees
//
//   - The fences of two members never let requests for one bucket pass at the same time. A member
//     releases a bucket before another one is granted it. If it doesn't, its Lease is taken, and
//     the others wait until its fence has shut.
//   - The server gets the requests for a bucket in the order of their epochs.
//   - After each grant, every key of the bucket is queued.
//   - If nobody works on a bucket for twice LeaseDuration, [Ring.Healthy] says so in every member.
//   - Members with another By, Buckets or Roots don't join; Run returns [ErrMismatch].
//
// No clock of another machine decides anything: a member is dead LeaseDuration after this process
// first saw its last renewal, and only if the Lease can be taken at this very version. The fence of
// a member shuts LeaseDuration less Margin after the start of its last successful renewal, by the
// monotonic or the wall clock, as in package election. Two coordinators do no harm: each of their
// writes is conditional, and is based on final facts: a release, and a death.
//
// # A move
//
//	coordinator   next ─▶ …            ─▶ revoking             ─▶ owner, epoch + 1
//	new owner              loads, ready                                             works
//	old owner     works    works   works             ends, released
//
// Between "ends reconciles" and "works" nobody works on the bucket: for some writes of Leases.
//
// # Stored
//
// In Options.Namespace, with the label informer-gen.dev/ring except for the first:
//
//	Lease           | holds
//	----------------+---------------------------------------------------------------------
//	NAME            | the coordinator's election
//	NAME-table      | for each bucket: owner, epoch, next, spare, and whether it is revoked
//	NAME-m-IDENTITY | one member: state, weight, the buckets it has loaded and released
//
// Each member writes its Lease once in RetryPeriod, and a few times for each change. If somebody
// deletes the table, all members lose their Leases, and a new table is written when their fences
// have shut.
//
// # Limits
//
// A request received by the server can't be taken back; see package election. Systems not asked
// through [Ring.Fence] are not protected. A hand-over is a restart for its keys: a deletion
// meanwhile is seen only if the object has a finalizer.
//
// # Goroutines
//
// The goroutine of [Ring.Run] decides. Each of its requests has a goroutine of its own, and so have
// the election, the informer of the Leases, and work. All of them have ended when Run returns. Run
// waits for work without a limit.
package shard
