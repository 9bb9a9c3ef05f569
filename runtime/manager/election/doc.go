// SPDX-License-Identifier: Apache-2.0

// Package election lets one of several processes lead, by a Lease of the API server, and cuts off
// the requests of a process that no longer leads.
//
//	e, err := election.New(config, election.Options{Namespace: "shop", Name: "widgets"})
//	client, err := source.NewClient(e.Fence(config))
//	…
//	err = e.Run(ctx, lead)
//
// The protocol is that of client-go's package leaderelection, which does the work. So processes
// that use client-go may take part.
//
// # Guarantees
//
// A process leads until the end of its lease: LeaseDuration after its last renewal. The fence shuts
// earlier. Once LeaseDuration less Margin has passed since the last successful renewal, no request
// of a client made from [Election.Fence] leaves the process, and pending ones are cancelled. This
// time counts from the start of the renewal, by the monotonic clock or the wall clock, whichever
// ends it first. So a wall clock that jumps ahead may end the lease early, and one that jumps back
// does no harm.
//
// The times in the Lease only show the others that it was renewed. Where the wall clock has gone
// back, or stands still, a renewal adds one to the Lease's transitions, so the Lease differs from
// all earlier ones. The clocks of two processes may run at different speeds: with the default
// Margin, one may lose a fifth of the time against the other, less the duration of requests.
//
// Fenced clients have their own connections, over HTTP/1.1 and HTTP/2, which look at the clock
// before each system call that sends. So the guarantee also holds for a process that was stopped,
// or whose renewals hang, no matter when it finds out. Except on Unix, they look before each write
// instead, and a write that waits for the server may send its rest late. At the end of the lease
// the connections are reset, and the kernel drops unsent bytes.
//
// The others take the lease LeaseDuration after they saw the last renewal, by their own clocks.
// They look every 1 to 2.2 RetryPeriods, so one leads within LeaseDuration and 2.2 RetryPeriods of
// seeing it. After a release it leads within 2.2 RetryPeriods.
//
// # Limits
//
// A request received by the server can't be taken back. If the network or the server delays it for
// longer than Margin, it may take effect beside the next leader's requests. So may bytes resent by
// the kernel of a stopped process, and requests of a process stopped in the few instructions
// between a look at the clock and the system call. The resourceVersion of an update and the
// preconditions of a delete guard against that. Suspending a machine stops the monotonic clock of
// most systems; the wall clock must go on meanwhile.
//
// Deleting the Lease, or writing another holder into it, lets another process lead at once. This
// one finds out by its next renewal, within RetryPeriod and the duration of the requests.
//
// # Goroutines
//
//	goroutine                     | started by | ends when
//	------------------------------+------------+------------------------------------------
//	elector: gets and renews the  | Run        | ctx is done, and lead has returned; or the
//	lease                         |            | lease is lost
//	one for each connection of a  | the end of | the connection is closed
//	fenced client                 | the lease  |
//
// lead is called on the goroutine of Run.
//
// # Blocking
//
// Run waits for lead without a limit. All other methods, and requests, wait only for a lock that is
// held briefly.
package election
