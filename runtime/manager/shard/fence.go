// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	requests "github.com/informer-gen/informer-gen/runtime/manager/internal/fence"
)

// Causes for the ring's gate: why requests are refused and cut off.
var (
	errExpired    = fmt.Errorf("%w any more: the last renewal of this process's lease is too old", ErrNotOwned)
	errTaken      = fmt.Errorf("%w any more: the others took this process's lease", ErrNotOwned)
	errEnded      = fmt.Errorf("%w any more: it has left the ring", ErrNotOwned)
	errHandedOver = fmt.Errorf("%w any more: it went to another process, and this reconcile went on after its Grace", ErrNotOwned)
)

// gate decides about the requests of a ring's clients. The goroutine of [Ring.Run] moves it:
//
//   - Begin, when Run has chosen its identity, shuts all buckets and returns the term of this Run.
//   - Extend(sent, LeaseDuration-Margin) of the term follows each successful renewal.
//   - Open follows a grant, before Hub.Grant.
//   - Shut(bucket, errHandedOver) ends a drain, before `released` is written.
//   - Close(errEnded) of the term ends Run, before the Lease says `left`; Close(errTaken) is for a
//     Lease taken by the others.
//
// A term not extended in time ends by itself, with errExpired. Its Context ends with it.
type gate = requests.Gate

func newGate(hub *partition.Hub) *gate { return requests.NewGate(hub, ErrNotOwned, errExpired) }

// Fence returns a copy of config for the clients of reconciles. A request with the context of a
// reconcile leaves this process only while it owns the bucket of the reconcile's key, by the same
// grant. Other requests leave it only while its lease lasts; Status.Unclaimed counts them. Refused
// requests fail with an error that wraps [ErrNotOwned], and names the bucket. Pending ones are cut
// off when the lease is lost. They are also cut off when a reconcile goes on for longer than
// Options.Grace after its bucket was revoked. Watches and other responses end then, too.
//
// A request, once cut off, may still wait in the process or its kernel, so its connection is
// reset, unless the server has begun to answer it and it had no body. Other requests on that
// connection fail too, which happens with HTTP/2; a reconcile that returns their error is repeated.
//
// Each client of the copy has its own connections, made by config.Dial if that is set, and closed
// when the lease is lost. A config with its own Transport keeps it. Then nothing looks at the
// clock between the start and the end of a request, except when its body is read; and connections
// are reset only if the Transport reports them by package httptrace, as [net/http] does.
//
// The User-Agent of a reconcile's request ends with this member, the bucket and its epoch:
// "widgets/v1 (shard widgets-0-k2p4 17@5)".
func (r *Ring) Fence(config *rest.Config) *rest.Config { return r.gate.Wrap(config) }
