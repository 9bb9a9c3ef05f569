// SPDX-License-Identifier: Apache-2.0

// Package controllertest runs controllers in tests, without a cluster and without waiting. A test
// starts controllers against an API server in memory (package sourcetest), changes objects, waits
// until everything has settled, and checks the result:
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
// The test runs in a bubble of testing/synctest, whose clock moves only while all goroutines wait.
// So retries, delays and periods take no time, and every run is alike. After Settle, the test may
// sleep for an hour to see the effect. Everything the controllers use must be made inside the
// bubble, without sockets.
//
// # Settled
//
// Controllers have settled when all have synced and no key is ready, being reconciled, held back
// until a write is seen, or due for a retry. Keys waiting for Result.RequeueAfter, or for a period,
// don't count: that may never end. Neither do events held back by a Fault of the server, unless a
// controller awaits them.
//
// # Goroutines and blocking
//
// Start runs each controller on its own goroutine, until Stop or the end of the test. Settle blocks
// until all other goroutines of the bubble wait, again and again.
package controllertest
