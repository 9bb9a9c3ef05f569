// SPDX-License-Identifier: Apache-2.0

// Package prometheus exports the metrics of informers, work queues, controllers, elections, rings,
// requests and watch caches to Prometheus. It is the only runtime package that imports
// github.com/prometheus/client_golang.
//
// One Provider serves a process. Its one place is the factory:
//
//	metrics, err := informermetrics.New(registry) // this package
//	factory := factories.New(client, informer.WithMetrics(metrics))
//
// The factory's informers have metrics then, and so do the controllers that watch them, their
// queues, and the election and the ring of the manager that has the factory; the manager serves
// /metrics.
// Requests need no place: see below.
//
// To add a prefix or more labels, wrap the registerer:
//
//	prometheus.WrapRegistererWithPrefix("shop_", registerer)
//	prometheus.WrapRegistererWith(prometheus.Labels{"cluster": "west"}, registerer)
//
// # Metrics
//
// For each informer, with the label informer, its name:
//
//	name                                      | type      | meaning
//	------------------------------------------+-----------+---------------------------------------
//	informer_objects                          | gauge     | objects in the store
//	informer_synced                           | gauge     | 1 if the store has a full state, else
//	                                          |           |   0
//	informer_watching                         | gauge     | 1 if the watch is open, else 0
//	informer_consecutive_failures             | gauge     | consecutive failures
//	informer_resource_version                 | gauge     | the version of the store
//	informer_last_event_timestamp_seconds     | gauge     | Unix time of the last object
//	informer_last_bookmark_timestamp_seconds  | gauge     | Unix time of the last bookmark
//	informer_queued_events                    | gauge     | events and objects read but not yet
//	                                          |           |   applied to the store
//	informer_events_total                     | counter   | events of watches, by type: added,
//	                                          |           |   modified, deleted, bookmark
//	informer_listed_objects_total             | counter   | objects of lists, and initial objects
//	                                          |           |   of watch-lists
//	informer_relists_total                    | counter   | full states read after the first one
//	informer_bad_data_total                   | counter   | responses that could not be decoded
//	                                          |           |   or transformed
//	informer_failures_total                   | counter   | failed lists and watches, by reason
//	informer_list_duration_seconds            | histogram | from the request of a full state to
//	                                          |           |   its last object
//	informer_watch_duration_seconds           | histogram | duration of watches
//	informer_batch_changes                    | histogram | changes published in one step
//	informer_batch_duration_seconds           | histogram | time to apply and publish them
//
// For each informer with a checkpoint (informer.WithCheckpoint), with the same label:
//
//	informer_checkpoint_failing               | gauge     | 1 if the last write failed, else 0
//	informer_checkpoint_timestamp_seconds     | gauge     | Unix time of the last write of the
//	                                          |           |   checkpoint or of its version alone
//	informer_checkpoint_bytes                 | gauge     | its size
//	informer_checkpoint_writes_total          | counter   | complete writes
//	informer_checkpoint_written_bytes_total   | counter   | bytes of these writes
//	informer_checkpoint_write_seconds_total   | counter   | time of these writes
//	informer_checkpoint_write_failures_total  | counter   | failed writes
//	informer_checkpoint_restored_objects_total| counter   | objects from a checkpoint instead of
//	                                          |           |   the server
//
// For each handler, with the labels informer and handler:
//
//	informer_handler_synced                   | gauge     | 1 if the handler has received the
//	                                          |           |   initial objects, else 0
//	informer_handler_backlog_events           | gauge     | waiting events
//	informer_handler_merging                  | gauge     | 1 while the handler is so far behind
//	                                          |           |   that events are merged
//	informer_handler_lag_seconds              | gauge     | age of the oldest waiting event, or 0
//	informer_handler_running_seconds          | gauge     | age of the oldest running callback, or
//	                                          |           |   0
//	informer_handler_callback_duration_seconds| histogram | duration of callbacks
//	informer_handler_panics_total             | counter   | callbacks that panicked
//
// An informer that waits for a resource allowed to be missing (informer.WithOptionalResource)
// counts as synced and watching: nothing is wrong.
//
// The reasons are those of package reason, with underscores: forbidden, not_found, throttled,
// unreachable and so on.
//
// informer_resource_version is for comparing replicas of a program. It is missing if the server's
// version is not a number (KEP-5504), or from 2^53 on. A timestamp is missing until it is first
// set.
//
// These queries find most problems:
//
//	informer_synced == 0                                   // for minutes: informer_failures_total
//	                                                       // has the reason
//	informer_consecutive_failures > 5
//	rate(informer_relists_total[1h]) > 0.01                // the server's history, or a proxy's
//	                                                       // connections, are too short
//	time() - informer_last_event_timestamp_seconds > 3600  // for a resource with frequent changes
//	informer_handler_lag_seconds > 60
//	informer_handler_running_seconds > 60                  // a stuck callback
//	informer_checkpoint_failing == 1                       // for minutes: the log has the reason
//
// # Work queues
//
// For each work queue, with its name as both labels name and controller. Those above the line have
// the names, labels and buckets of controller-runtime's queues:
//
//	name                                        | type      | meaning
//	--------------------------------------------+-----------+-------------------------------------
//	workqueue_depth                             | gauge     | ready keys by priority: 1, 0 or -1
//	workqueue_adds_total                        | counter   | how often a key came to wait
//	workqueue_retries_total                     | counter   | delays, after failures and others
//	workqueue_queue_duration_seconds            | histogram | time from ready to hand-out
//	workqueue_work_duration_seconds             | histogram | time from hand-out to done
//	workqueue_unfinished_work_seconds           | gauge     | sum of the times of running keys
//	workqueue_longest_running_processor_seconds | gauge     | longest time of a running key
//	--------------------------------------------+-----------+-------------------------------------
//	workqueue_oldest_seconds                    | gauge     | age of the oldest ready key
//	workqueue_delayed                           | gauge     | keys that wait for a time
//	workqueue_held                              | gauge     | keys that wait for the cache
//	workqueue_failing                           | gauge     | keys whose last attempt failed
//
// The series of a queue exist from New until its ShutDown has returned. Queues of one name share
// series: these show sums, or for ages the maximum.
//
// # Controllers
//
// For each controller, with the label controller. Those above the line have the names, labels and
// buckets of controller-runtime's, so dashboards made for it show these controllers:
//
//	name                                               | type    | meaning
//	---------------------------------------------------+---------+--------------------------------
//	controller_runtime_reconcile_total                 | counter | reconciles by result: success,
//	                                                   |         |   requeue_after, error, or
//	                                                   |         |   requeue, which is always 0
//	controller_runtime_reconcile_time_seconds          | hist.   | durations of reconciles
//	controller_runtime_reconcile_errors_total          | counter | errors
//	controller_runtime_terminal_reconcile_errors_total | counter | terminal errors
//	controller_runtime_reconcile_panics_total          | counter | panics
//	controller_runtime_reconcile_timeouts_total        | counter | returns after the deadline
//	controller_runtime_max_concurrent_reconciles       | gauge   | maximum concurrent reconciles
//	controller_runtime_active_workers                  | gauge   | running reconciles
//	---------------------------------------------------+---------+--------------------------------
//	controller_awaiting_keys                           | gauge   | keys held until the cache has
//	                                                   |         |   their writes
//	controller_awaited_reconciles_total                | counter | reconciles after which the key
//	                                                   |         |   was held
//	controller_unseen_writes_total                     | counter | writes not seen in the cache in
//	                                                   |         |   time
//
// The series of a controller exist while it runs. Its totals continue in the next run.
//
// # Elections
//
// For each election, with the label name, that of the Lease:
//
//	name                                               | type    | meaning
//	---------------------------------------------------+---------+--------------------------------
//	leader_election_master_status                      | gauge   | 1 if this process leads, else 0
//
// # Rings
//
// For each ring, by which replicas share the work, with the label ring, its name. All are as this
// process sees them:
//
//	name                                    | type    | meaning
//	----------------------------------------+---------+-------------------------------------------
//	shard_active                            | gauge   | 1 if this process may be granted buckets,
//	                                        |         |   else 0
//	shard_coordinator                       | gauge   | 1 if this process plans who gets which
//	                                        |         |   bucket, else 0
//	shard_members                           | gauge   | processes that take part
//	shard_buckets_owned                     | gauge   | buckets on which this process works
//	shard_unowned_seconds                   | gauge   | how long nobody has worked on a bucket:
//	                                        |         |   the longest time, or 0
//	shard_bucket_moves_total                | counter | buckets by direction: granted, released,
//	                                        |         |   or evicted, which were lost without a
//	                                        |         |   release
//	shard_unclaimed_requests_total          | counter | requests that belong to no reconcile, so
//	                                        |         |   that only the process's lease guards
//	                                        |         |   them; a sharded controller's Events are
//	                                        |         |   among them
//
// The series of a ring exist while this process takes part. These queries find most problems:
//
//	shard_unowned_seconds > 60
//	sum by (namespace, job, ring) (shard_coordinator) == 0   // for minutes
//	sum by (namespace, job, ring) (shard_buckets_owned)      // the number of buckets, at rest
//	max_over_time(shard_active[10m]) == 0                    // it can't join: its log says why
//
// # Requests
//
// For each API server, with the label host: the requests of package source and of client-go's
// clients, with the names of k8s.io/component-base.
//
//	name                                               | type    | meaning
//	---------------------------------------------------+---------+--------------------------------
//	rest_client_requests_total                         | counter | requests by method and code,
//	                                                   |         |   the status or <error>
//	rest_client_request_duration_seconds               | hist.   | time until the answer was read,
//	                                                   |         |   by verb; without watches
//	rest_client_rate_limiter_duration_seconds          | hist.   | time requests waited for the
//	                                                   |         |   client's limiter, by verb
//	rest_client_request_retries_total                  | counter | retries by verb and code
//
// They belong to the process, since client-go has one receiver, the first one set. Call New before
// the first request. If controller-runtime or component-base's package restclient is linked in,
// their registry has these metrics, package source's requests included, and New's has none.
//
// # Watch caches
//
// For each watch cache, with the label cache:
//
//	name                                    | type    | meaning
//	----------------------------------------+---------+-------------------------------------------
//	watchcache_ready                        | gauge   | 1 if the cache is filled and runs, else 0
//	watchcache_failing                      | gauge   | 1 if the storage has failed since its last
//	                                        |         |   event, else 0
//	watchcache_last_event_timestamp_seconds | gauge   | Unix time of its last event or bookmark
//	watchcache_resource_version             | gauge   | the version of the cache
//	watchcache_oldest_resource_version      | gauge   | the oldest version requests may name
//	watchcache_awaited_resource_version     | gauge   | the newest version that a request waits
//	                                        |         |   for, or 0
//	watchcache_objects                      | gauge   | objects in the cache
//	watchcache_object_bytes                 | gauge   | estimate of their memory
//	watchcache_log_changes                  | gauge   | changes in the log
//	watchcache_log_bytes                    | gauge   | estimate of the log's memory
//	watchcache_log_oldest_seconds           | gauge   | age of its oldest change, or 0
//	watchcache_watchers                     | gauge   | open watches
//	watchcache_changes_total                | counter | changes of objects made by the cache
//	watchcache_sent_events_total            | counter | events sent to watches
//	watchcache_reads_total                  | counter | gets and lists from memory, by verb
//	watchcache_relists_total                | counter | further lists of the storage
//	watchcache_failures_total               | counter | failures of the storage
//	watchcache_merged_watches_total         | counter | differences of two states sent to slow
//	                                        |         |   watches
//	watchcache_ended_watches_total          | counter | ended watches, by reason: closed,
//	                                        |         |   timed_out, slow, expired, failed or
//	                                        |         |   stopped
//
// The series of a cache exist while it runs. These queries find most problems:
//
//	watchcache_ready == 0
//	time() - watchcache_last_event_timestamp_seconds > 120  // API servers send a bookmark each
//	                                                        // minute
//	watchcache_awaited_resource_version > 0                 // for seconds: the cache is behind
//	rate(watchcache_relists_total[1h]) > 0.01
//	rate(watchcache_ended_watches_total{reason="slow"}[10m]) > 0
//
// # Lifetime of series
//
// The series of an informer exist while it runs, those of a handler while it is registered and the
// informer runs. Histograms and the counters of failures and panics stay. When an informer runs
// again, its counters and histograms continue, so they never decrease while the Provider exists.
// For that the Provider keeps about 7 KB for each informer name it has seen, and 2 KB for each
// handler name: use names from a limited set.
//
// Informers of one name share series, as do handlers of one name in one informer. These show sums,
// or the worst value where sums make no sense: synced and watching are 1 only if they are 1 for
// all; the other gauges have the value of the source that is furthest behind, among those with a
// value.
//
// # Ordering and blocking
//
// A scrape reads one informer after the other. The values of one informer are from the same moment,
// except for events that arrive meanwhile. A scrape takes the locks of each informer and its
// handlers briefly, and never while it holds its own. A report of an informer takes a few atomic
// operations.
//
// # Goroutines
//
// A Provider has none.
package prometheus
