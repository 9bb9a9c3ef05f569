// SPDX-License-Identifier: Apache-2.0

// Package manager runs the controllers of a program by name, on informers that they share.
//
//	m, err := manager.New(manager.Options{
//		Config: config, Factory: factory, Address: "localhost:8080",
//		Controllers: []manager.Descriptor{
//			{Name: "widgets", New: newWidgets},
//			{Name: "gadgets", New: newGadgets, Disabled: true},
//		},
//	})
//	…
//	err = m.Run(ctx)
//
// A [Descriptor] describes how a controller is made and when it runs. Options.Select, the flag
// --controllers, selects those that run: "*,-widgets,gadgets". Each gets a [Context] of its own: a
// client with a user agent of its own, which the server logs, the factory, and whether the process
// leads.
//
// # Start and end
//
// [Manager.Run] makes all controllers, then starts the informers, then runs the controllers at the
// same time. None waits for another one, or for informers that it doesn't read. [Manager.Stop] and
// [Manager.Start] do this for one controller while the others run.
//
// At the end, Run stops them, within Options.ShutdownTimeout. Run then returns
// an error that names the controllers that have not returned, and which keys they have been working
// on for how long.
//
// # Leading
//
// With Options.Election, controllers run only while the process leads, unless they are Always. The
// informers run in all processes, so that the next leader begins with what it has. Requests of
// clients made from Context.Config don't leave the process once its lease is about to end, and the
// lease is released only after all led controllers have returned: see package election, which is
// below this one since it brings a part of client-go that only some programs need.
//
// # What is served
//
// [Manager.Handler] answers these requests, and Options.Address serves it.
//
//	/healthz                    200, or 500 with the names of the controllers that are unhealthy;
//	                            ?verbose names all; /healthz/NAME is about one
//	/readyz                     200, or 503 with what has not synced or begun, and why
//	/metrics                    what Options.MetricsHandler answers
//	/configz                    the values of all flags, as JSON
//	/debug/informers            the page and JSON of package inspect, with all work queues
//	/debug/controllers          which controllers there are, and what they do, as JSON
//	/debug/controllers/NAME     the Status of one, or what it answers itself
//	/debug/pprof/               profiles; net/http/pprof, which this package imports, also adds
//	                            them to http.DefaultServeMux
//
// A controller is unhealthy if it has failed, if it has been working on one key for longer than
// KeyLimit, or if for longer than IdleLimit no reconcile has ended while a key is ready. Only
// requests for /healthz look for the last of these, so it takes two of them. A controller that is
// idle, or waits for informers, is healthy. Point a liveness probe at /healthz if the process
// should be restarted for that. Everyone may ask for the first three. The rest shows keys, flags
// and the texts of errors, and is for requests that Options.Authorize allows: from this machine, if
// it is not set. To these requests, /healthz also says why a controller is unhealthy.
//
// At Options.Address, a client has 10 s for the headers of a request, which may have 64 KB, and
// 30 s for its body and for reading the answer. Answers below /debug may take longer, since
// profiles do. A connection is closed after 90 s without a request. A server of the program's own
// has its own limits.
//
// # Goroutines
//
//	goroutine                | started by       | ends when
//	-------------------------+------------------+-----------------------------------------------
//	server, and its requests | Run              | all else has ended
//	those that are Always    | Run              | ctx is done, and its controllers have returned
//	election                 | Run              | the same for those that are led
//	controller: one for each | these two, Start | the controller's Run has returned
//
// Run waits for all of them, until Options.ShutdownTimeout has passed. New functions are called on
// the goroutine of Run, or of Start.
//
// # Blocking
//
// Run waits for the New functions, which must not wait for informers. Stop waits for the controller
// to return. A request waits for nothing but locks that are held for moments.
package manager
