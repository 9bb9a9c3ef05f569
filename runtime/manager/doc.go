// SPDX-License-Identifier: Apache-2.0

// Package manager runs a program's controllers by name, on shared informers.
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
// A [Descriptor] says how to make a controller and when to run it. Options.Select, the flag
// --controllers, selects the controllers to run: "*,-widgets,gadgets". Each gets its own [Context].
//
// # Start and end
//
// [Manager.Run] runs the controllers concurrently: none waits for another one, or for informers
// that it doesn't read. [Manager.Stop] and [Manager.Start] end and start one controller while the
// others run.
//
// # Leading
//
// With Options.Election, controllers run only while the process leads, unless they are Always. The
// informers run in all processes, so the next leader begins with full caches. Requests of clients
// made from Context.Config don't leave the process once its lease is about to end. The lease is
// released only after all led controllers have returned: see package election.
//
// # Sharing the work
//
// With Options.Ring, the Sharded controllers of all processes share the objects: see package shard.
// The program makes the ring, and also gives it to the informers, by informer.WithRing, and to each
// of these controllers, by controller.Options.Ring.
//
// All processes of a ring must run the same Sharded controllers. When Run ends, they go on until
// other processes have taken over, for ShutdownTimeout at most. When the ring is lost, because the
// process could not renew its Lease, Run ends with an error: the process begins anew as another
// member.
//
// A process is ready when it has joined the ring, even if it has no objects yet. So a rolling
// update ends the next old process while the new one waits for its JoinDelay, and the new one takes
// over from that. /healthz of every process is red once nobody has worked on a part of the ring for
// twice the LeaseDuration. Restarting all of them would not help, so point a liveness probe at
// /healthz/NAME of a controller.
//
// # HTTP endpoints
//
// [Manager.Handler] answers these requests, and Options.Address serves it.
//
//	/healthz                    200, or 500 with the names of unhealthy controllers and failing
//	                            Options.HealthChecks, and "ring" if nobody works on a part of it;
//	                            with ?verbose the names of all
//	/healthz/NAME               the same for one of them
//	/readyz                     200, or 503 with informers and controllers not ready, and why, and
//	                            the names of failing Options.ReadyChecks; failed controllers
//	                            are not ready; with ?verbose the names of all
//	/readyz/NAME                one of them: informers, controllers, ring, or the name of a check
//	/metrics                    the metrics of the factory, or Options.MetricsHandler
//	/configz                    the values of all flags in the set of AddFlags, except hidden
//	                            ones, as JSON; without AddFlags, those of the manager
//	/debug/informers            the page and JSON of package inspect, with all controllers, the
//	                            leader and the ring
//	/debug/controllers          the controllers and their states, as JSON
//	/debug/controllers/NAME     the Status of one, or its own answer
//	/debug/pprof/               profiles; net/http/pprof, which this package imports, also adds
//	                            them to http.DefaultServeMux
//
// A controller is unhealthy if it has failed, if one key has run for longer than KeyLimit, or if no
// reconcile has ended for longer than IdleLimit although a key is ready. The last check compares
// two requests for /healthz. A controller that is idle, or waits for informers, is healthy. Point a
// liveness probe at /healthz. Everyone may request the first five paths, unless
// Options.AuthorizeMetrics protects /metrics. The rest shows keys, flags and error texts, and is
// for requests allowed by Options.Authorize, for which /healthz adds the reasons, and /readyz those
// of checks. Package access has a rule for both options, by which the API server decides.
//
// With Options.CertFile and KeyFile, the server at Options.Address speaks HTTPS. A client has 10 s
// for the headers of a request, at most 64 KB, and 30 s for sending the body and reading the
// answer. Answers below /debug may take longer, as profiles do. An idle connection is closed after
// 90 s.
//
// # Flags and logs
//
// [Options.AddFlags] adds flags for options that differ between deployments, and for the logs. All
// packages log by the logger of Run's context if it has one, and otherwise by klog. So a program
// with another logger, such as zap's, gives it to klog.SetLogger. A program with the log flags of
// k8s.io/component-base adds them first: AddFlags then leaves its own out.
//
// # Metrics
//
// The factory's metrics, set by informer.WithMetrics, are also those of the manager's controllers,
// election and ring. Package prometheus of runtime/metrics lists them.
//
// # Goroutines
//
//	goroutine                | started by       | ends when
//	-------------------------+------------------+-----------------------------------------------
//	server, and its requests | Run              | all else has ended
//	check: one for each call | a request        | its function has returned; Run waits for it
//	group of Always          | Run              | ctx is done, and its controllers have returned
//	election, group of led   | Run              | the same, for its controllers
//	ring, group of sharded   | Run              | it was handed over, and its controllers have
//	                         |                  | returned
//	controller: one for each | a group, Start   | the controller's Run has returned
//	recorder: one for each   | a group, Start   | its group's controllers have returned, and the
//	                         |                  | last Events are sent or given up
//
// New functions are called on the goroutine of Run or Start.
//
// # Blocking
//
// Run waits for the New functions. Stop waits for the controller to return. Requests wait only for
// locks that are held briefly.
package manager
