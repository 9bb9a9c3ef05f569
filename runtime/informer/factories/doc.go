// SPDX-License-Identifier: Apache-2.0

// Package factories makes informers that share a client and defaults, and are started, awaited and
// stopped together.
//
//	factory := factories.New(client, informer.WithNamespace("shop"))
//	pods := factories.For[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("pods"))
//	err := factory.Start(ctx)
//
// Generated code wraps a [Factory] in a type with a method for each API group, and has a [Kind] for
// each API type; a program with generated factories needs this package only for other resources and
// for [KindOptions].
//
// [For] returns the informer of a resource, always the same one for the same selection. [Kind] is a
// resource whose informers may differ in options. [WithKind] sets defaults for the informers of one
// kind.
//
// A factory is one user of its informers among others: its Stop and Shutdown end only its own
// leases, so an informer runs on while another part of the program has one (by Acquire or Run).
//
// # Blocking
//
// Stop, Remove and Shutdown wait until goroutines have ended, WaitForCacheSync until informers have
// synced, each until its context is done. A call of For that adds indexes to an informer waits
// until the current batch of changes is applied. Nothing else waits. A factory has no goroutines
// besides those of its running informers.
package factories
