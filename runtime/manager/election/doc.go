// SPDX-License-Identifier: Apache-2.0

// Package election lets one of several processes lead, by a Lease of the API server, and cuts off
// the requests of one that does not lead any more.
//
//	e, err := election.New(config, election.Options{Namespace: "shop", Name: "widgets"})
//	client, err := source.NewClient(e.Fence(config))
//	…
//	err = e.Run(ctx, lead)
//
// The protocol is that of client-go's package leaderelection, which is used for it. So a process
// may take part beside others that use client-go.
//
// # What is promised
//
// A process leads until the end of its lease: LeaseDuration after its last renewal. The fence shuts
// before that: once LeaseDuration less Margin has passed since the last successful renewal, no
// request of a client made from [Election.Fence] leaves the process, and those under way are
// cancelled. The time counts from when the renewal began, by the monotonic clock and by the wall
// clock, until the first of them says that it is over. So a wall clock that jumps ahead may end the
// lease early, and one that jumps back does no harm.
//
// The times in the Lease don't count, except that the others see a renewal by them. So where the
// wall clock has gone back, or stands still, a renewal adds one to the Lease's transitions: then it
// differs from all before. The clocks of two processes need not run equally fast: with the default
// Margin, one may lose a fifth of the time against the other, less the time that requests take.
//
// Such clients have connections of their own, over HTTP/1.1 and HTTP/2, which look at the clock
// before each system call that sends something. So the promise also holds for a process that was
// stopped, or whose renewals hang, and does not depend on when the process finds out. On systems
// other than Unix they look before each write, and a write that waits for the server may send its
// rest late. At the end of the lease the connections are reset, and the kernel drops what it has
// not sent.
//
// The others take the lease LeaseDuration after they have seen the last renewal, by their own
// clocks. They look each 1 to 2.2 RetryPeriods, so one of them leads within LeaseDuration and 2.2
// RetryPeriods of seeing it. After a release it leads within 2.2 RetryPeriods.
//
// # What is not
//
// A request that the server has received can't be taken back. If the network keeps it for longer
// than Margin, or the server takes that long to handle it, it may take effect beside the next
// leader's. The same is true of bytes that the kernel of a stopped process sends again, and of a
// process that is stopped in the few instructions between a look at the clock and the system call.
// The resourceVersion in an update, and preconditions of a delete, guard against that. A machine
// that is suspended stops the monotonic clock of most systems; the wall clock must go on meanwhile.
//
// Whoever deletes the Lease, or writes another holder into it, lets another process lead at once.
// This one finds out by its next renewal, within RetryPeriod and the time of the requests.
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
// Run waits for the elector. lead is called on the goroutine of Run.
//
// # Blocking
//
// Run waits for lead without a limit. All other methods, and requests, wait for nothing but a lock
// that is held for moments.
package election
