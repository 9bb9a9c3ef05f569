// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/ptr"
)

// name is the name of a history's Service and of its Endpoints.
const name = "web"

// holdFinalizer keeps a deleted Pod until endPod is called again.
const holdFinalizer = "informer-gen.dev/hold"

// history is a Service and Pods in a namespace, changed at random. The seed alone decides all
// changes.
type history struct {
	rand      *rand.Rand
	namespace string
	strict    bool // the server refuses invalid objects
	manual    bool // the Service has no selector: its Endpoints are written by hand
	crowded   bool // there are more Pods than Endpoints hold
	headless  bool // the Service has no IP of its own

	client   typedcorev1.CoreV1Interface
	service  *corev1.Service // nil for none
	pods     []*corev1.Pod
	made     int // Pods so far
	services int // so far
}

// newHistory returns the history of a seed. Two histories of one seed on one server need different
// prefixes.
func newHistory(seed uint64, prefix string, strict bool, client typedcorev1.CoreV1Interface) *history {
	h := &history{rand: rand.New(rand.NewPCG(seed, 0)), namespace: fmt.Sprintf("%s-%d", prefix, seed), strict: strict, client: client}
	h.manual, h.crowded = h.chance(10), h.chance(200)
	return h
}

// chance returns true with probability 1/n.
func (h *history) chance(n int) bool { return h.rand.IntN(n) == 0 }

func pick[T any](h *history, from ...T) T { return from[h.rand.IntN(len(from))] }

// play plays the history. After each step it waits for a random part of the stage's pause.
func (h *history) play(ctx context.Context, on stage) error {
	if h.strict {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.namespace}}
		if _, err := h.client.Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if h.manual || h.chance(4) {
		if err := h.writeEndpoints(ctx); err != nil {
			return err
		}
	}
	steps := 5 + h.rand.IntN(25)
	for n := range steps {
		if err := h.step(ctx); err != nil {
			return fmt.Errorf("%s, step %d of %d: %w", h.namespace, n, steps, err)
		}
		time.Sleep(time.Duration(h.rand.Int64N(int64(on.pause) + 1)))
	}
	if h.crowded {
		for n := range 1001 + h.rand.IntN(200) {
			if err := h.createPod(ctx); err != nil {
				return err
			}
			// Without a pause, Kubernetes' controller may stay at an early state for good.
			if n%25 == 0 {
				time.Sleep(on.pause)
			}
		}
	}
	if h.service != nil && h.service.Spec.Type == corev1.ServiceTypeExternalName || h.service == nil && h.chance(2) {
		return h.putService(ctx, corev1.ServiceTypeClusterIP)
	}
	return nil
}

// touch makes a change of no consequence to the Service, which causes one more sync: Kubernetes'
// controller doesn't notice the end of an unready Pod.
func (h *history) touch(ctx context.Context) (err error) {
	if h.service == nil {
		return nil
	}
	h.service.Annotations = map[string]string{"touched": "yes"}
	h.service, err = h.client.Services(h.namespace).Update(ctx, h.service, metav1.UpdateOptions{})
	return err
}

func (h *history) step(ctx context.Context) error {
	switch n := h.rand.IntN(20); {
	case h.service == nil || n < 3:
		return h.putService(ctx, pick(h, corev1.ServiceTypeClusterIP, corev1.ServiceTypeClusterIP, corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName))
	case n == 3:
		return h.deleteService(ctx)
	case len(h.pods) == 0 || n < 9:
		return h.createPod(ctx)
	case n < 14:
		return h.changeStatus(ctx, h.rand.IntN(len(h.pods)))
	case n < 16:
		return h.changePod(ctx, h.rand.IntN(len(h.pods)))
	default:
		return h.endPod(ctx, h.rand.IntN(len(h.pods)))
	}
}

func (h *history) putService(ctx context.Context, kind corev1.ServiceType) (err error) {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: name}}
	if h.service != nil {
		s = h.service.DeepCopy()
	} else {
		// A Service stays headless or not: the label of headless Services alone is no reason to
		// write. On a kube-apiserver, the next Service of the name stays so, too. The server
		// deletes the Endpoints, and a controller that still has the last Service writes them
		// again.
		s.Spec.ClusterIP = pick(h, "10.96.0.1", "10.96.0.1", "fd00::96", corev1.ClusterIPNone, corev1.ClusterIPNone, "")
		if h.services++; h.services == 1 || !h.strict {
			h.headless = s.Spec.ClusterIP == corev1.ClusterIPNone
		}
	}
	s.Spec.Type = kind
	s.Spec.Selector = pick(h, map[string]string{"app": name}, map[string]string{"app": name, "tier": "a"}, map[string]string{"tier": "checkout"})
	if h.manual {
		s.Spec.Selector = nil
	}
	s.Labels = pick(h, nil, nil, map[string]string{"a": "b"}, map[string]string{"a": "c", "d": ""})
	s.Spec.PublishNotReadyAddresses = h.chance(4)
	s.Spec.IPFamilies = pick(h, nil, []corev1.IPFamily{corev1.IPv4Protocol}, []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}, []corev1.IPFamily{corev1.IPv6Protocol})
	s.Spec.Ports = nil
	for n := range h.rand.IntN(4) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{
			Name: fmt.Sprint("port-", n), Port: int32(80 + n),
			Protocol:    pick(h, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP),
			AppProtocol: pick(h, nil, nil, ptr.To("h2c")),
			TargetPort:  pick(h, intstr.FromInt32(8080), intstr.FromInt32(9090), intstr.FromString("http"), intstr.FromString("metrics"), intstr.FromString("absent")),
		})
	}
	if h.strict {
		h.makeValid(s)
	}
	if h.service == nil {
		h.service, err = h.client.Services(h.namespace).Create(ctx, s, metav1.CreateOptions{})
	} else {
		h.service, err = h.client.Services(h.namespace).Update(ctx, s, metav1.UpdateOptions{})
	}
	return err
}

// makeValid makes the Service valid as a successor of the last one. IPs and their families belong
// together, and stay as long as the Service has any. The server chooses them; a headless history
// has none.
func (h *history) makeValid(s *corev1.Service) {
	families, had := s.Spec.IPFamilies, corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName}
	if h.service != nil {
		had = h.service.Spec
	}
	if len(s.Spec.Ports) == 0 && !h.headless && s.Spec.Type != corev1.ServiceTypeExternalName {
		s.Spec.Ports = []corev1.ServicePort{{Name: "port-0", Port: 80}}
	}
	s.Spec.ExternalName = ""
	switch {
	case s.Spec.Type == corev1.ServiceTypeExternalName:
		s.Spec.ExternalName = "example.com"
		s.Spec.ClusterIP, s.Spec.ClusterIPs, s.Spec.IPFamilies, s.Spec.IPFamilyPolicy = "", nil, nil, nil
	case had.Type == corev1.ServiceTypeExternalName:
		s.Spec.ClusterIP = "" // the server chooses one
		if h.headless {
			s.Spec.ClusterIP = corev1.ClusterIPNone
		}
		s.Spec.IPFamilyPolicy = nil
		if len(families) == 2 {
			s.Spec.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicyRequireDualStack)
		}
	default:
		s.Spec.ClusterIP, s.Spec.ClusterIPs, s.Spec.IPFamilies, s.Spec.IPFamilyPolicy = had.ClusterIP, had.ClusterIPs, had.IPFamilies, had.IPFamilyPolicy
	}
}

// deleteService deletes the Service and waits until its Endpoints are gone. A Service created
// earlier would keep fields written by others.
func (h *history) deleteService(ctx context.Context) error {
	h.service = nil
	if err := h.client.Services(h.namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return awaitGone(ctx, h.client.Endpoints(h.namespace), name)
}

func (h *history) createPod(ctx context.Context) error {
	h.made++
	port := func(name string, number int32) corev1.ContainerPort {
		return corev1.ContainerPort{Name: name, ContainerPort: number, Protocol: pick(h, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP)}
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: fmt.Sprint("pod-", h.made), Finalizers: []string{holdFinalizer}},
		Spec: corev1.PodSpec{
			NodeName: pick(h, "", "node-1", "node-2"), HostNetwork: h.chance(4),
			RestartPolicy: pick(h, corev1.RestartPolicyAlways, corev1.RestartPolicyNever),
			Containers: []corev1.Container{
				{Name: "a", Image: "a", Ports: []corev1.ContainerPort{port("http", pick(h, int32(8080), 8081))}},
				{Name: "b", Image: "b", Ports: []corev1.ContainerPort{port("metrics", 9090), port("http", 7)}},
			},
			InitContainers: []corev1.Container{{
				Name: "c", Image: "c", RestartPolicy: pick(h, nil, ptr.To(corev1.ContainerRestartPolicyAlways), ptr.To(corev1.ContainerRestartPolicyOnFailure)),
				Ports: []corev1.ContainerPort{port("metrics", 9091)},
			}},
		},
	}
	h.label(p)
	if h.strict && p.Spec.NodeName == "" {
		p.Spec.NodeName = "node-3" // Pods with an IP have one
	}
	created, err := h.client.Pods(h.namespace).Create(ctx, p, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	h.pods = append(h.pods, created)
	return h.changeStatus(ctx, len(h.pods)-1)
}

func (h *history) label(p *corev1.Pod) {
	p.Labels = pick(h, map[string]string{"app": name}, map[string]string{"app": name, "tier": "a"}, map[string]string{"app": name, "tier": "checkout"}, nil)
	p.Spec.Hostname, p.Spec.Subdomain = pick(h, "", "one"), pick(h, "", name, "other")
}

func (h *history) changePod(ctx context.Context, n int) (err error) {
	p := h.pods[n].DeepCopy()
	h.label(p)
	if h.strict {
		p.Spec = h.pods[n].Spec // immutable
	}
	h.pods[n], err = h.client.Pods(h.namespace).Update(ctx, p, metav1.UpdateOptions{})
	return err
}

func (h *history) changeStatus(ctx context.Context, n int) (err error) {
	p := h.pods[n].DeepCopy()
	number, _ := strconv.Atoi(p.Name[len("pod-"):])
	v4, v6 := fmt.Sprintf("10.0.%d.%d", number/250, number%250), fmt.Sprintf("fd00::%x", number)
	if p.Spec.HostNetwork && !h.crowded {
		v4, v6 = "192.0.2.1", "fd01::1" // of the node
	}
	p.Status.PodIP, p.Status.PodIPs = "", nil
	for _, ip := range pick(h, nil, []string{v4}, []string{v4}, []string{v6}, []string{v4, v6}, []string{v4, v6}, []string{v6, v4}) {
		p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: ip})
		p.Status.PodIP = p.Status.PodIPs[0].IP
	}
	p.Status.Phase = pick(h, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodFailed, corev1.PodSucceeded)
	ready := pick(h, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}}
	if h.chance(10) {
		p.Status.Conditions = nil
	}
	h.pods[n], err = h.client.Pods(h.namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}

// endPod deletes a Pod. The Pod stays until endPod is called for it again.
func (h *history) endPod(ctx context.Context, n int) (err error) {
	p := h.pods[n]
	if p.DeletionTimestamp != nil {
		p = p.DeepCopy()
		p.Finalizers = nil
		h.pods = append(h.pods[:n:n], h.pods[n+1:]...)
		_, err = h.client.Pods(h.namespace).Update(ctx, p, metav1.UpdateOptions{})
		return err
	}
	if err := h.client.Pods(h.namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}); err != nil {
		return err
	}
	h.pods[n], err = h.client.Pods(h.namespace).Get(ctx, p.Name, metav1.GetOptions{})
	return err
}

// writeEndpoints writes Endpoints in a poor layout.
func (h *history) writeEndpoints(ctx context.Context) error {
	e := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{
		Namespace: h.namespace, Name: name, Labels: map[string]string{"by": "hand"},
		Annotations: map[string]string{"of": "others", corev1.EndpointsLastChangeTriggerTime: "x"},
	}}
	for n := range 1 + h.rand.IntN(3) {
		e.Subsets = append(e.Subsets, corev1.EndpointSubset{
			Addresses: []corev1.EndpointAddress{{IP: fmt.Sprint("192.0.2.", 9-n)}, {IP: "192.0.2.1"}},
			Ports:     []corev1.EndpointPort{{Name: "http", Port: int32(80 + n), Protocol: corev1.ProtocolTCP}},
		})
	}
	_, err := h.client.Endpoints(h.namespace).Create(ctx, e, metav1.CreateOptions{})
	return err
}

// result has the objects at the end of a history.
type result struct {
	service   *corev1.Service   // nil for none
	pods      []*corev1.Pod     // selected by the Service
	endpoints *corev1.Endpoints // nil for none
}

func (h *history) result(ctx context.Context) (r result, err error) {
	r.endpoints, err = h.client.Endpoints(h.namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		r.endpoints, err = nil, nil
	}
	if err != nil || h.service == nil {
		return r, err
	}
	if r.service, err = h.client.Services(h.namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
		return r, err
	}
	selector := labels.SelectorFromSet(r.service.Spec.Selector)
	pods, err := h.client.Pods(h.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return r, err
	}
	for i := range pods.Items {
		r.pods = append(r.pods, &pods.Items[i])
	}
	return r, nil
}
