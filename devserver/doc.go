// SPDX-License-Identifier: Apache-2.0

// Package devserver runs a real Kubernetes API server inside a Go process, without binaries,
// containers or certificates.
//
//	server, err := devserver.Start(ctx, devserver.Options{CRDs: crds})
//	if err != nil { … }
//	defer server.Close()
//	client, err := dynamic.NewForConfig(server.Config())
//
// It is k8s.io/apiextensions-apiserver over an embedded etcd, optionally with Kubernetes' built-in
// kinds. A start takes well under a second (go test -bench Start prints it). The first build of a
// program that imports the package takes minutes.
//
// # What is served
//
// CustomResourceDefinitions and their objects, by the code of a cluster's API server: list and
// watch with resourceVersions, bookmarks, pages, watch-list and selectors; create, update, patch,
// server-side apply, delete with finalizers; validation, defaults, pruning, the status and scale
// subresources, several versions with webhook conversion (by URL). Discovery in the aggregated and
// the old form, /version and OpenAPI v2 and v3 are served too.
//
// Every client is an administrator, unless Options.RBAC is set. Custom resources are served as JSON
// and YAML; one in protobuf is refused with 415. A client that would send protobuf must be set to
// JSON, as by [Server.Config].
//
// # Built-in kinds
//
// Without Options.BuiltInKinds there are no Pods and no Namespaces: objects may be created in any
// namespace. With it the kinds listed there are served, by the same code and in protobuf too:
// client-go's leader election, its event recorders and kubectl work.
//
// They have kube-apiserver's storage, and its rules:
//
//   - metadata is filled in and validated; the generation counts changes of the spec
//   - fields are validated by the rules that people meet, in kube-apiserver's words: required
//     fields, replicas of at least 0, selectors that match their template, names, ports, schedules,
//     schemas of roles and webhooks, and fields that can't be changed. Rarely broken rules are left
//     out
//   - the status is written by its subresource only, which writes metadata too, so that controllers
//     add finalizers with it; scale, for deployments, replicasets and statefulsets
//   - patches of all kinds, server-side apply with merge keys and managed fields, dry runs
//   - a cluster's field selectors, such as spec.nodeName and status.phase of Pods,
//     involvedObject.name of events and the type of secrets
//   - events are the same objects in core and in events.k8s.io, and last an hour
//   - a deleted Pod waits for its node if it has one and a grace period, and with it for a deletion
//     with the grace period 0; a binding gives a Pod its node
//   - an eviction, as by kubectl drain, deletes a Pod if the disruption budget's status allows that
//   - horizontalpodautoscalers are the same objects in autoscaling/v2 and v1
//   - service accounts get tokens by their subresource token. A client with such a token is that
//     service account, until the token expires, the account is deleted or the server stops; bound
//     objects are ignored
//   - reviews of access and of tokens are answered; certificate requests can be approved
//   - kubectl get prints a cluster's columns
//   - deleting a namespace deletes its content. A create in a missing namespace is NotFound, in a
//     deleted one Forbidden, for custom resources too
//   - admission webhooks are called for every kind, if their clientConfig has a url
//   - OpenAPI v3, without the facts found only in comments of the Go types: required fields, and
//     how lists merge
//
// Everything done by other parts of a cluster is missing. There are no controllers: no CronJob
// makes Jobs, no ReplicaSet makes Pods, no Service has endpoints or a clusterIP, no quota is
// counted, no certificate is issued, no namespace gets a default ServiceAccount or
// kube-root-ca.crt. kubectl rollout status and kubectl wait are warned of that. A disruption budget
// allows no eviction before a client has written its status. There is no
// admission but namespaces' and webhooks', so quotas, limit ranges, priority classes and default
// storage classes have no effect. Only fields that programs dereference or select by have defaults
// (replicas, types, policies, protocols, strategies, and the required fields of Jobs and webhooks).
// No containers run: requests for logs, exec, attach, port-forward and proxy of Pods are answered
// with 501, which says so. There are no other kinds. OpenAPI v2 has the CRDs only.
//
// CRDs of a group with built-in kinds are refused, because these would hide them.
//
// # Rights
//
// With Options.RBAC a request is authorized by the Roles, ClusterRoles and bindings that are stored
// at that moment. A missing right is the 403 of a cluster:
//
//	pods is forbidden: User "system:serviceaccount:shop:web" cannot list resource "pods" in API
//	group "" in the namespace "shop"
//
// A client is an administrator, the member of system:masters, if it has no token. To test a
// controller's rights, let its client impersonate the controller's service account, or give it a
// token of that account, as devservertest.ServiceAccount does:
//
//	config := server.Config()
//	config.Impersonate.UserName = "system:serviceaccount:shop:web"
//
// Any other token is refused with 401. kubectl sends no token over plain HTTP; it impersonates with
// --as.
//
// As in a cluster, ClusterRoles aggregate others, roles and bindings that grant more than their
// author holds are refused, and these roles exist from the start: cluster-admin, admin, edit, view,
// and those for discovery and reviews of oneself.
//
// # Owners
//
// With Options.CollectGarbage, which devservertest.New sets, objects are deleted when their owners
// are gone, custom resources included. Foreground, background and orphaning deletions work as in a
// cluster. An object whose owner's kind isn't served is kept.
//
// Without it there is only the API server, as with envtest: owner references have no effect, and
// the finalizers foregroundDeletion and orphan stay until a client removes them.
//
// # CRDs
//
// [InstallCRDs] installs CRDs into any cluster and returns when they can be used; [ReadCRDs] gets
// them from YAML. An API server pauses two seconds before the first create of a new kind; this one
// doesn't.
//
// # Starting and stopping
//
// [Start] returns a server that is ready. The server ends when the context of Start ends, with
// [Server.Stop] or [Server.Close], or when a part of it fails. [Server.Done] is closed when it has
// ended, and [Server.Err] returns the reason. Stop returns when everything has ended: no goroutine,
// no connection, no port and no temporary folder is left, with two exceptions. For a second after a
// change or a deletion of a CRD, and for three after a list that waited for the watch cache, the
// API server keeps a sleeping goroutine, which Stop can't wake.
//
// # When a resourceVersion is too old
//
// Clients must handle the answer 410: a resourceVersion is too old to continue from. The table
// shows when it is given to a resourceVersion from before a call, if changes came later; "kept"
// means that the request works.
//
//	                              watch from it          exact list, continue token
//	Compact                       kept                   410, within 15 s
//	Compact, DisableWatchCache    410, in 0.1 s          410
//	ExpireWatches                 410                    410, within 15 s
//	ExpireWatches, DisableW.C.    410, in 0.1 s          410
//	restart, same Dir             410                    kept
//	restart, DisableWatchCache    kept                   kept
//
// The 410 of a watch is an ERROR event in a stream with status 200; a list's is the status itself.
// Watches from the newest resourceVersion survive a restart in any case: the new watch cache lacks
// only the changes before it.
//
// ExpireWatches is about custom resources: watches of built-in kinds answer 410 only with
// DisableWatchCache.
//
// Open watches go on through a Compact; with DisableWatchCache, if they have had all changes by
// then. ExpireWatches ends them, as do EndWatches and, after Options.MinRequestTimeout, the server
// itself.
//
// # Logs
//
// The server is silent unless Options.LogOutput is set. The API server logs through klog's
// process-wide logger, which must be set before the first line is logged. So importing this package
// sets a logger that sends the API server's lines to LogOutput and all others to stderr, klog's
// default. A program with its own logger calls klog.SetLogger, which replaces this one, API
// server's lines included.
//
// Feature gates and metrics of the Kubernetes libraries are process-wide as well; this package
// leaves them alone.
package devserver
