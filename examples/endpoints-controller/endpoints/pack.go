// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/dump"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
)

// Subsets returns the subsets of a Service's Endpoints, in the layout of the package, without a
// limit. pods are the Pods selected by the Service.
func Subsets(service *corev1.Service, pods []*projections.PodEndpoint) []corev1.EndpointSubset {
	var p packer
	for _, pod := range pods {
		if !counts(service, pod) {
			continue
		}
		address, ok := addressOf(service, pod)
		if !ok {
			continue
		}
		ready := service.Spec.PublishNotReadyAddresses || isReady(pod)
		if len(service.Spec.Ports) == 0 && service.Spec.ClusterIP == corev1.ClusterIPNone {
			p.add(&address, nil, ready)
		}
		ports := portsOf(service, pod)
		for i := range ports {
			p.add(&address, &ports[i], ready)
		}
	}
	return p.subsets()
}

func repack(subsets []corev1.EndpointSubset) []corev1.EndpointSubset {
	var p packer
	for i := range subsets {
		s := &subsets[i]
		ports := []*corev1.EndpointPort{nil}
		if len(s.Ports) > 0 {
			ports = ports[:0]
		}
		for k := range s.Ports {
			ports = append(ports, &s.Ports[k])
		}
		for _, port := range ports {
			for k := range s.Addresses {
				p.add(&s.Addresses[k], port, true)
			}
			for k := range s.NotReadyAddresses {
				p.add(&s.NotReadyAddresses[k], port, false)
			}
		}
	}
	return p.subsets()
}

// packer makes subsets of addresses, each at a port. The zero value is empty.
//
//	address    10.0.0.1   10.0.0.2   10.0.0.3
//	http          ready      ready    notReady   ─┐ one subset
//	metrics       ready      ready    notReady   ─┘
//	debug         ready          -         -     ─▶ another one
type packer struct {
	addresses []corev1.EndpointAddress
	indexes   map[addressID]int
	rows      []row
	rowOf     map[portID]int
}

// row has the state of a port for each address, by the address's index. It may be shorter than the
// addresses.
type row struct {
	port   *corev1.EndpointPort // nil: addresses without ports
	states []byte
}

const (
	stateAbsent = iota
	stateNotReady
	stateReady
)

// addressID tells addresses apart: Pods in their node's network share its IP.
type addressID struct {
	ip  string
	uid types.UID
}

func idOf(address *corev1.EndpointAddress) addressID {
	id := addressID{ip: address.IP}
	if address.TargetRef != nil {
		id.uid = address.TargetRef.UID
	}
	return id
}

func (a addressID) compare(b addressID) int {
	return cmp.Or(cmp.Compare(a.ip, b.ip), cmp.Compare(a.uid, b.uid))
}

// portID is a port by value. The zero value means no port.
type portID struct {
	name, appProtocol string
	protocol          corev1.Protocol
	port              int32
	isSet, hasApp     bool
}

func idOfPort(port *corev1.EndpointPort) (id portID) {
	if port == nil {
		return id
	}
	id = portID{name: port.Name, protocol: port.Protocol, port: port.Port, isSet: true}
	if port.AppProtocol != nil {
		id.appProtocol, id.hasApp = *port.AppProtocol, true
	}
	return id
}

// add adds a port of an address. An address added both as ready and as not ready is not ready.
func (p *packer) add(address *corev1.EndpointAddress, port *corev1.EndpointPort, isReady bool) {
	if p.indexes == nil {
		p.indexes, p.rowOf = map[addressID]int{}, map[portID]int{}
	}
	at, known := p.indexes[idOf(address)]
	if !known {
		at = len(p.addresses)
		p.indexes[idOf(address)] = at
		p.addresses = append(p.addresses, *address)
	}
	n, known := p.rowOf[idOfPort(port)]
	if !known {
		n = len(p.rows)
		p.rowOf[idOfPort(port)] = n
		p.rows = append(p.rows, row{port: port})
	}
	r := &p.rows[n]
	for len(r.states) <= at {
		r.states = append(r.states, stateAbsent)
	}
	switch {
	case !isReady:
		r.states[at] = stateNotReady
	case r.states[at] == stateAbsent:
		r.states[at] = stateReady
	}
}

// subsets returns the result, which is not nil.
func (p *packer) subsets() []corev1.EndpointSubset {
	order := make([]int, len(p.addresses)) // of the addresses
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return idOf(&p.addresses[a]).compare(idOf(&p.addresses[b]))
	})
	groups := map[string]int{} // subset by the states of a row
	subsets := []corev1.EndpointSubset{}
	for _, r := range p.rows {
		states := string(bytes.TrimRight(r.states, string(rune(stateAbsent))))
		n, known := groups[states]
		if !known {
			n = len(subsets)
			groups[states] = n
			subsets = append(subsets, p.subset(order, states))
		}
		if r.port != nil {
			subsets[n].Ports = append(subsets[n].Ports, *r.port)
		}
	}
	for _, s := range subsets {
		sortByHash(s.Ports)
	}
	sortByHash(subsets)
	return subsets
}

func (p *packer) subset(order []int, states string) (s corev1.EndpointSubset) {
	for _, i := range order {
		switch {
		case i >= len(states) || states[i] == stateAbsent:
		case states[i] == stateReady:
			s.Addresses = append(s.Addresses, p.addresses[i])
		default:
			s.NotReadyAddresses = append(s.NotReadyAddresses, p.addresses[i])
		}
	}
	return s
}

// sortByHash sorts values in the order of Kubernetes' endpoints controller: by a hash of their
// dumps.
func sortByHash[T any](values []T) {
	if len(values) < 2 {
		return // dumping a thousand addresses takes milliseconds
	}
	type hashed struct {
		hash  []byte
		value T
	}
	all := make([]hashed, 0, len(values))
	for _, value := range values {
		hash := fnv.New128a()
		_, _ = io.WriteString(hash, dump.ForHash(value)) // a hash never fails
		all = append(all, hashed{hash.Sum(nil), value})
	}
	slices.SortStableFunc(all, func(a, b hashed) int { return bytes.Compare(a.hash, b.hash) })
	for i := range all {
		values[i] = all[i].value
	}
}
