// SPDX-License-Identifier: Apache-2.0

// Package prometheus exports the metrics of informers, of work queues, of controllers and of watch
// caches to Prometheus. It is the only runtime package that imports
// github.com/prometheus/client_golang.
//
// One Provider serves all informers of a process. Their names become the label informer, the names
// of their handlers the label handler. To add a prefix or further labels, wrap the registerer:
//
//	prometheus.WrapRegistererWithPrefix("shop_", registerer)
//	prometheus.WrapRegistererWith(prometheus.Labels{"cluster": "west"}, registerer)
//
// # Metrics
//
// Of each informer, with the label informer:
//
//	name                                      | type      | meaning
//	------------------------------------------+-----------+---------------------------------------
//	informer_objects                          | gauge     | objects in the store
//	informer_synced                           | gauge     | 1 if the store has a full state, else
//	                                          |           |   0
//	informer_watching                         | gauge     | 1 if the watch is open, else 0
//	informer_consecutive_failures             | gauge     | failures in a row; 0 while all is well
//	informer_resource_version                 | gauge     | the version of the store
//	informer_last_event_timestamp_seconds     | gauge     | when the last object came in, in Unix
//	                                          |           |   time
//	informer_last_bookmark_timestamp_seconds  | gauge     | when the last bookmark came in, in
//	                                          |           |   Unix time
//	informer_queued_events                    | gauge     | events and objects read but not yet
//	                                          |           |   applied to the store
//	informer_events_total                     | counter   | events of watches, by type: added,
//	                                          |           |   modified, deleted, bookmark
//	informer_listed_objects_total             | counter   | objects of lists, and initial objects
//	                                          |           |   of watch-lists
//	informer_relists_total                    | counter   | full states read after the first one
//	informer_bad_data_total                   | counter   | answers that could not be decoded or
//	                                          |           |   transformed
//	informer_failures_total                   | counter   | failed lists and watches, by reason
//	informer_list_duration_seconds            | histogram | from the request of a full state to
//	                                          |           |   its last object
//	informer_watch_duration_seconds           | histogram | how long watches stayed open
//	informer_batch_changes                    | histogram | changes that were published in one
//	                                          |           |   step
//	informer_batch_duration_seconds           | histogram | time to apply and publish them
//
// Of each informer with a checkpoint (informer.WithCheckpoint), with the same label:
//
//	informer_checkpoint_failing               | gauge     | 1 if it could not be written the last
//	                                          |           |   time, else 0
//	informer_checkpoint_timestamp_seconds     | gauge     | when it was written, in Unix time, or
//	                                          |           |   its version alone
//	informer_checkpoint_bytes                 | gauge     | its size
//	informer_checkpoint_writes_total          | counter   | how often it was written whole
//	informer_checkpoint_written_bytes_total   | counter   | bytes that were written then
//	informer_checkpoint_write_seconds_total   | counter   | time that it took
//	informer_checkpoint_write_failures_total  | counter   | attempts to write it that have failed
//	informer_checkpoint_restored_objects_total| counter   | objects that came from a checkpoint in
//	                                          |           |   place of the server
//
// Of each handler, with the labels informer and handler:
//
//	informer_handler_synced                   | gauge     | 1 if the handler has seen the initial
//	                                          |           |   objects, else 0
//	informer_handler_backlog_events           | gauge     | events that wait for the handler
//	informer_handler_merging                  | gauge     | 1 while the handler is so far behind
//	                                          |           |   that events are merged
//	informer_handler_lag_seconds              | gauge     | how long the oldest of its events has
//	                                          |           |   waited; 0 if none waits
//	informer_handler_running_seconds          | gauge     | how long its oldest callback has been
//	                                          |           |   running; 0 if none runs
//	informer_handler_callback_duration_seconds| histogram | duration of its callbacks
//	informer_handler_panics_total             | counter   | callbacks that panicked
//
// The reasons are those of package reason, with underscores: forbidden, not_found, throttled,
// unreachable and so on.
//
// informer_resource_version is for comparing replicas of a program. It is left out if the server's
// version is not a number (KEP-5504), and from 2^53 on. Each of the timestamps is left out
// until there is one.
//
// These find most of what goes wrong:
//
//	informer_synced == 0                                   // for minutes: informer_failures_total
//	                                                       // has the reason
//	informer_consecutive_failures > 5
//	rate(informer_relists_total[1h]) > 0.01                // the server's history, or a proxy's
//	                                                       // connections, are too short
//	time() - informer_last_event_timestamp_seconds > 3600  // of a resource that always changes
//	informer_handler_lag_seconds > 60
//	informer_handler_running_seconds > 60                  // a callback that is stuck
//	informer_checkpoint_failing == 1                       // for minutes: the log has the reason
//
// # Work queues
//
// Controllers has the metrics of work queues, with the label name. They have the names that
// Kubernetes' work queues use; those below the line are ours alone:
//
//	name                                        | type      | meaning
//	--------------------------------------------+-----------+-------------------------------------
//	workqueue_depth                             | gauge     | keys that wait to be handed out, by
//	                                            |           |   priority: 1, 0 or -1
//	workqueue_adds_total                        | counter   | how often a key came to wait
//	workqueue_retries_total                     | counter   | delays, of failures and others
//	workqueue_queue_duration_seconds            | histogram | from when a key was ready until it
//	                                            |           |   was handed out
//	workqueue_work_duration_seconds             | histogram | from there until it was done
//	workqueue_unfinished_work_seconds           | gauge     | how long all keys together have been
//	                                            |           |   worked on that are now
//	workqueue_longest_running_processor_seconds | gauge     | how long the longest-running one has
//	--------------------------------------------+-----------+-------------------------------------
//	workqueue_oldest_seconds                    | gauge     | age of the oldest that is ready
//	workqueue_delayed                           | gauge     | keys that wait for a time
//	workqueue_held                              | gauge     | keys that wait for the cache
//	workqueue_failing                           | gauge     | keys that failed last time
//
// The series of a queue exist from New until its ShutDown has returned. Queues of one name share
// theirs: such series show sums, or for ages the oldest.
//
// # Controllers
//
// Controllers has the metrics of controllers, with the label controller, besides those of their
// queues, where the time that keys are worked on is that of the reconciles. Those above the line
// have the names that controller-runtime uses:
//
//	name                                               | type    | meaning
//	---------------------------------------------------+---------+--------------------------------
//	controller_runtime_reconcile_total                 | counter | reconciles, by result: success,
//	                                                   |         |   requeue_after or error
//	controller_runtime_reconcile_errors_total          | counter | those that returned an error
//	controller_runtime_terminal_reconcile_errors_total | counter | those that returned a terminal
//	                                                   |         |   one
//	controller_runtime_reconcile_panics_total          | counter | those that panicked
//	controller_runtime_reconcile_timeouts_total        | counter | those that returned after their
//	                                                   |         |   deadline
//	controller_runtime_max_concurrent_reconciles       | gauge   | how many may run at once
//	controller_runtime_active_workers                  | gauge   | how many run
//	---------------------------------------------------+---------+--------------------------------
//	controller_awaiting_keys                           | gauge   | keys that are held until the
//	                                                   |         |   cache has what was written
//	controller_awaited_reconciles_total                | counter | reconciles after which the key
//	                                                   |         |   was held
//	controller_unseen_writes_total                     | counter | writes that the cache did not
//	                                                   |         |   have in time
//
// The series of a controller exist while it runs, and its totals go on in the next run.
//
// # Watch caches
//
// Caches has the metrics of watch caches, with the label cache:
//
//	name                                    | type    | meaning
//	----------------------------------------+---------+-------------------------------------------
//	watchcache_ready                        | gauge   | 1 if the cache is filled and runs, else 0
//	watchcache_failing                      | gauge   | 1 if the storage has failed since its last
//	                                        |         |   event, else 0
//	watchcache_last_event_timestamp_seconds | gauge   | when its last event or bookmark came, in
//	                                        |         |   Unix time
//	watchcache_resource_version             | gauge   | the version of the cache
//	watchcache_oldest_resource_version      | gauge   | the oldest version that requests may name
//	watchcache_awaited_resource_version     | gauge   | the newest version for which a request
//	                                        |         |   waits; 0 if none waits
//	watchcache_objects                      | gauge   | objects in the cache
//	watchcache_object_bytes                 | gauge   | memory that they take, about
//	watchcache_log_changes                  | gauge   | changes in the log
//	watchcache_log_bytes                    | gauge   | memory that the log takes, about
//	watchcache_log_oldest_seconds           | gauge   | age of its oldest change; 0 if it is empty
//	watchcache_watchers                     | gauge   | open watches
//	watchcache_changes_total                | counter | changes of objects that it has made
//	watchcache_sent_events_total            | counter | events that watches have got
//	watchcache_reads_total                  | counter | gets and lists from memory, by verb
//	watchcache_relists_total                | counter | how often the storage was listed again
//	watchcache_failures_total               | counter | how often the storage has failed
//	watchcache_merged_watches_total         | counter | how often a slow watch has got the
//	                                        |         |   difference of two states
//	watchcache_ended_watches_total          | counter | watches that have ended, by reason:
//	                                        |         |   closed, timed_out, slow, expired, failed
//	                                        |         |   or stopped
//
// Series of a cache exist while it runs. These find most of what goes wrong:
//
//	watchcache_ready == 0
//	time() - watchcache_last_event_timestamp_seconds > 120  // an API server sends a bookmark each
//	                                                        // minute
//	watchcache_awaited_resource_version > 0                 // for seconds: the cache is behind
//	rate(watchcache_relists_total[1h]) > 0.01
//	rate(watchcache_ended_watches_total{reason="slow"}[10m]) > 0
//
// # Life of a series
//
// The series of an informer exist while it runs, those of a handler while it is registered and the
// informer runs; but histograms, and the counters of failures and panics, stay. When an informer
// runs again, its counters and histograms continue from their last values; so they never go down
// while the Provider exists. For that the Provider keeps about 7 KB for each name that an informer
// has had, and 2 KB for each name of a handler: use names from a limited set.
//
// Informers of one name share their series, as do handlers of one name in one informer. Such series
// show sums, or, where a sum makes no sense, the worst value: synced and watching are 1 only if
// they are 1 for all of them; the other gauges are those of the one that is furthest behind, of
// those that have a value.
//
// # Ordering and blocking
//
// A scrape reads one informer after the other. The values of one informer are from the same moment,
// except for events that arrive meanwhile. A scrape takes the locks of an informer and of its
// handlers for a moment each, and none of them together with its own. A report of an informer takes
// a few atomic operations.
//
// # Goroutines
//
// A Provider has none.
package prometheus
