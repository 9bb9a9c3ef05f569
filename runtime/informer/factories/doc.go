// SPDX-License-Identifier: Apache-2.0

// Package factories makes informers that share a client and defaults, and that are started, awaited
// and stopped together. Package informer describes what an informer does.
//
//	factory := factories.New(client, informer.WithNamespace("shop"))
//	pods := factories.For[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("pods"))
//	err := factory.Start(ctx)
//
// Generated code wraps a [Factory] in a type with a method for each API group, and has a [Kind] for
// each API type; so a program that uses generated factories needs this package for other resources
// only, and for [KindOptions].
//
// [For] returns the informer of a resource, always the same one for the same selection. [Kind] is a
// resource whose informers may differ in options. [WithKind] gives the informers of one kind
// defaults of their own.
//
// A factory is a user of its informers like any other: what it has started runs on while another
// part of the program has a lease (Acquire or Run), and the factory's Stop and Shutdown end only
// what its Start has begun.
//
// # Blocking
//
// Stop, Remove and Shutdown wait until goroutines have ended, WaitForCacheSync until informers have
// synced, each until its context is done. A call of For that adds indexes to an informer waits
// until the batch of changes that is being applied is done. Nothing else waits.
//
// # Goroutines
//
// A factory has none. Each of its informers has those that package informer lists, while it runs.
package factories
