// SPDX-License-Identifier: Apache-2.0

// Package reconcile makes controllers of the kinds that code was generated for, in one call:
//
//	widgets := factory.Samples().V1alpha1().Widgets()
//	sync := func(ctx context.Context, w *shopv1.Widget) (controller.Result, error) { … }
//	c, err := widgets.Reconcile("widgets", sync,
//		reconcile.When(controller.GenerationChanged[*shopv1.Widget]),
//		reconcile.Owns(pods),
//		reconcile.Indexed(shoplisters.WidgetBySite(), sites.Informer(), (*shopv1.Site).GetName),
//	)
//	…
//	err = c.Run(ctx)
//
// It adds to package controller what follows from the kind: the watch of its own objects, the
// look-up by key, a copy of the object, the kind of an owner, and a writer ([Writer]). What comes
// out is an ordinary [controller.Controller]; package controller has the rules about order,
// retries, blocking and goroutines. This package itself starts no goroutine and waits for nothing.
//
// Generated informers have these methods if informer-gen.yaml says controllers: true, or
// informer-gen is called with --controllers. Without it, generated code imports neither this
// package nor the controllers below it.
package reconcile
