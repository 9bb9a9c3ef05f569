// SPDX-License-Identifier: Apache-2.0

// Package controllerruntime puts controller-runtime's managers on informers of this project, and
// its webhooks into managers of this project.
//
// A manager with [NewCache] as NewCache in its ctrl.Options reads, watches and indexes through a
// [Cache]. Controllers, predicates, clients and cache.Options stay as they are. docs/migrate.md
// lists the differences. [Source] and [Runnable] put controllers of controller-runtime on single
// informers, with or without this cache. [Webhooks] is the other direction: docs/webhooks.md.
//
// [Ring] divides the work of a manager's controllers among the replicas of a program:
// docs/sharding.md.
//
// The package works with controller-runtime v0.21 to v0.25. A setting or method missing in the
// version in use is missing here, too: UnsafeDisableDeepCopy of a Get came with v0.22, the
// SyncPeriod of a kind or namespace with v0.23, HasSyncedChecker with v0.24.
//
// # Reads
//
// A kind has three views: typed, unstructured and metadata only. Each view in use has an informer
// of its own, or one for each configured namespace. A read uses an immutable snapshot: it takes no
// lock, and holds up nothing. A List of several namespaces reads one snapshot of each.
//
// # Objects without a copy
//
// Get and List return copies, unless UnsafeDisableDeepCopy is set, for a kind or a call. An
// uncopied object is read-only, with all its maps, slices and pointers. The cache has equal parts
// of objects only once, so changing one by mistake changes all others that have it. Package
// [github.com/informer-gen/informer-gen/runtime/informer] documents how far a mistake reaches. With
// KUBE_CACHE_MUTATION_DETECTOR=true in the environment it is found, and named. Handlers, predicates
// and map functions get no copies either.
//
// # Kinds that can't be read
//
// A kind that the account may not read, or whose resource is missing, does not hold up the manager:
// [Cache.WaitForCacheSync] waits for the others only. Reads of that kind wait until the context of
// the call is done, and then return the reason. A controller of it waits, as long as its
// CacheSyncTimeout allows. [Cache.Ready] is a readiness check that names the kind.
//
// # Goroutines
//
// [Cache.Start] owns all goroutines. Handlers of an informer for several namespaces may be called
// by several goroutines at once.
package controllerruntime
