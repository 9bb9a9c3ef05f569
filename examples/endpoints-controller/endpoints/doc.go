// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

// Package endpoints computes the Endpoints of a Service from its Pods, by the rules of Kubernetes'
// endpoints controller. It has no clients and no caches: functions depend on their arguments alone,
// which come from a cache and are not changed. Only [TriggerTimes] has a memory. Pods are
// projections to the fields used by the rules.
//
//	Selects         whether a Service selects a Pod
//	PodChanged      whether an update of a Pod can change any Endpoints
//	TriggerTimes    the time of the change that causes a write
//	Desired         the Endpoints of a Service, as they should be
//
// # Which Pods
//
// A Pod counts if it has an IP, has not ended (phase Failed or Succeeded), and is not being
// deleted. Its address is its first IP of the Service's first family, IPv4 or IPv6. Ready Pods are
// listed among the ready addresses, others among the not ready ones. With publishNotReadyAddresses
// all are listed as ready, and Pods being deleted count.
//
// # Which ports
//
// The target port of a Service is a number, or the name of a container's port. Containers come
// first, then init containers that run as long as the Pod (restartPolicy Always). A Pod without a
// port of this name and protocol lacks only that port. A headless Service may have no ports.
//
// # Layout
//
// Ports offered by the same addresses, in the same states, form one subset. Addresses are sorted.
// Ports and subsets are in Kubernetes' order, by a hash, so each of the two controllers leaves the
// other's writes alone. Beyond 1,000 addresses, unready ones are cut first.
package endpoints
