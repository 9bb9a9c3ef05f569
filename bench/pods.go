// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

// The benchmarks without a server are about Pods.
type (
	handler = rig.Handler[*corev1.Pod]
	podRig  = rig.Rig[*corev1.Pod]
)

// newPodRig makes an informer; opts are for ours only.
func newPodRig(s harness.Side, c server.Collection[*corev1.Pod], opts ...informer.Option) (podRig, error) {
	return rig.New(s, c, rig.Setup{Options: opts})
}
