// SPDX-License-Identifier: Apache-2.0

// Package controllertest runs controllers in tests, without a cluster and without waiting. A test
// has an API server in memory (package sourcetest), starts controllers, changes objects, lets
// everything settle, and looks at what came out:
//
//	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
//		maps := sourcetest.Serve[*corev1.ConfigMap](env.Server, mapsResource, "ConfigMap")
//		maps.Create(configMap("blue"))
//		env.Start(newLabeller(t, env.Client))
//		env.Settle()
//		if blue, _ := maps.Get("shop", "blue"); blue.Labels["seen"] != "yes" {
//			t.Errorf("blue has the labels %v", blue.Labels)
//		}
//	})
//
// # Time
//
// The test is in a bubble of testing/synctest: its clock moves only while all goroutines wait. So
// retries, delays and periods take no time, and one run goes as the other. After Settle, the test
// may sleep for an hour to see what happens then. Everything that the controllers use must be made
// inside of the bubble, and must not open sockets.
//
// # Settled
//
// Controllers have settled when all have synced, no key is ready, reconciled, held back until a
// write is seen, or to be tried again after a failure. A key that waits for Result.RequeueAfter, or
// a period, doesn't count: it is not known to end. Neither do events that a Fault of the server
// holds back, unless a controller awaits them.
//
// # Goroutines and blocking
//
// Start runs each controller on a goroutine of its own. They end when Stop is called, or with the
// test, which waits for them. Settle blocks until all other goroutines of the bubble wait, again
// and again.
package controllertest
