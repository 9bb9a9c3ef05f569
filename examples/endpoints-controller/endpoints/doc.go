// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

// Package endpoints computes the Endpoints of a Service from its Pods, by the rules of Kubernetes'
// endpoints controller. It has no clients and no caches: every function looks at its arguments
// alone, which come from a cache and are not changed. Only [TriggerTimes] remembers anything. Pods
// come as projections, with the fields that the rules are about.
//
//	Selects         whether a Service selects a Pod
//	PodChanged      whether an update of a Pod can change any Endpoints
//	TriggerTimes    when that changed which Endpoints are written for
//	Desired         what the Endpoints of a Service should be
//
// # Which Pods
//
// A Pod counts if it has an IP, has not ended (phase Failed or Succeeded), and is not being
// deleted. Its address is the first of its IPs that is of the Service's first family, IPv4 or IPv6.
// A Pod that is ready stands among the ready addresses, others among those that are not. With
// publishNotReadyAddresses all stand among the ready ones, and Pods that are being deleted count.
//
// # Which ports
//
// The target port of a Service is a number, or the name of a port of a container. Containers come
// first, then init containers that run as long as the Pod (restartPolicy Always). A Pod that has no
// port of this name and protocol lacks that port alone. A headless Service may have no ports.
//
// # Layout
//
// Ports that are offered by the same addresses, in the same states, are one subset. Addresses are
// sorted. Ports and subsets are in the order of a hash, which is that of Kubernetes' controller: so
// each of the two leaves alone what the other has written. Beyond 1,000 addresses those that are
// not ready are cut first.
package endpoints
