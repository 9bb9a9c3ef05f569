// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// Ring divides objects into buckets, and tells which of them this process reads. A *shard.Ring of
// package runtime/manager/shard is one.
type Ring interface {
	// Hub is called by this module only.
	Hub() *partition.Hub
}

// WithRing restricts informers to the buckets that their process has in a ring, or is about to
// have. A nil ring is an error. An informer needed whole is made with [WithoutRing]; in a factory
// it is another informer.
//
// Buckets come and go while the informer runs. The objects of a new bucket come by a list; handlers
// get them as additions that are not initial, and objects that are there already are neither
// decoded nor reported again. Several buckets that come within 20 ms are one list. Until it is
// complete, the store stays as it was; it gets no other changes meanwhile. If a list fails, Status
// says why, and the informer tries again. The objects of a lost bucket leave the store at once, in
// one step, and handlers get an OnDelete with an unknown final state for each: on the server, they
// live on. So does an object whose owner changes to one in a bucket of another process, but its
// final state is that in the store.
//
// When it begins to read, an informer chooses one of these modes, which Status shows:
//
//   - "namespaces": a list and a watch for each namespace in a bucket of this process. It is chosen
//     with ByNamespace if there are at most 200, also when no more buckets are on their way, for
//     informers of a factory that read all namespaces, or those of [WithNamespace]. The former read
//     the metadata of all Namespaces, so the account needs the verbs list and watch for them, as
//     with [WithNamespaceSelector]. A kind without namespaces must be marked by
//     factories.WithClusterScope. Objects of a lost bucket leave the store in one step for each
//     namespace.
//   - "client": one list and watch of everything, or one for each namespace of [WithNamespace].
//     Objects of other buckets are neither decoded nor stored.
//   - "server": the same, but the server sends the objects of the buckets only. It is asked to if
//     it may know shard selectors (KEP-5866, alpha; the server's feature gate ShardedListAndWatch;
//     informer-relay knows them): with ByUID and no Roots by ranges of UIDs, and by name for up to
//     400 namespaces, if the informer could have read them one by one. A new namespace in the
//     buckets then costs a list, like a new bucket. With ByKey or Roots, a server can't be asked,
//     since its hash sees neither keys nor owners; an object of a kind in Roots may have an owner,
//     too.
//
// The choice between "namespaces" and the others stands until the informer runs again; then the
// objects of the other mode are removed and read anew. Each list decides between "client" and
// "server": if its answer doesn't say that the server has applied the selector, the informer asks
// by up to three lists of one object, once in a run. A server that ignores or refuses selectors is
// sent none for the rest of the run. As long as the server has no objects, nothing is known, and
// the mode is "client".
//
// The informer has synced when it has the buckets that were wanted when it began to run; without
// any, it is empty. WaitForCacheSync does not wait for those that come later; the ring does.
// AwaitObject, AwaitDeleted and AwaitToken end with an error when the object's bucket is lost, and
// begin with one if the object's key shows that this process does not read it; functions given to
// AfterToken are called. With owners, or ByUID, that is known only for objects in the store.
//
// WithNamespaceSelector, WithShardSelector and [WithCheckpoint] beside a ring are errors, and so is
// a projection without owner references, if the ring needs them. A transform must keep the
// controlling owner reference. AddNamespace and RemoveNamespace return an error.
func WithRing(ring Ring) Option {
	return settings.New("WithRing", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		if settings.IsNil(ring) {
			return s.SetRing(nil)
		}
		return s.SetRing(ring.Hub())
	})
}

// WithoutRing makes an informer of a factory that has the objects of all buckets, although the
// factory was given [WithRing]. Objects that only a few fields are needed of are best read by a
// projection.
func WithoutRing() Option {
	return settings.New("WithoutRing", settings.InFor, func(s *settings.Settings) error {
		s.Ring = nil
		return nil
	})
}

// RingStatus is the state of an informer's part of a ring; see [WithRing].
type RingStatus struct {
	// Mode is "namespaces", "client" or "server", or "" before the informer begins to read.
	Mode string `json:"mode,omitempty"`
	// Buckets is the number of the ring's buckets, Wanted the number of those that the informer is
	// to read, and Loaded the number of those that it has completely.
	Buckets int `json:"buckets"`
	Wanted  int `json:"wanted"`
	Loaded  int `json:"loaded"`
}
