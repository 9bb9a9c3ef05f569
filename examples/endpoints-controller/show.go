// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this program is about.

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

const (
	namespace = metav1.NamespaceDefault
	name      = "web"
	rollout   = 50 // Pods
)

func show(ctx context.Context, w io.Writer, config *rest.Config, p *program) error {
	config = rest.CopyConfig(config)
	config.QPS = -1                           // for a hundred requests at once
	config.WarningHandler = rest.NoWarnings{} // Endpoints are deprecated
	client, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := p.endpoints.WaitForCacheSync(ctx); err != nil {
		return err
	}
	u := &user{client.Services(namespace), client.Pods(namespace), client.Endpoints(namespace)}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
		want string
	}{
		{"Service web: Pods with app=web, port 80 to their port http", u.expose, "no addresses"},
		{"Pods web-1 and web-2, ready, and web-3, not ready", u.start3, "10.0.0.1 10.0.0.2, not ready 10.0.0.3, http 8080"},
		{"web-3 is ready", func(ctx context.Context) error { return u.report(ctx, 3, true) }, "10.0.0.1 10.0.0.2 10.0.0.3, http 8080"},
		{"web-1 is deleted, and has 30 s to end", u.delete1, "10.0.0.2 10.0.0.3, http 8080"},
		{"the Service publishes addresses that are not ready", u.publish, "10.0.0.1 10.0.0.2 10.0.0.3, http 8080"},
		{"web-2 loses its label", u.unlabel2, "10.0.0.1 10.0.0.3, http 8080"},
		{"another client deletes the Endpoints", u.deleteEndpoints, "10.0.0.1 10.0.0.3, http 8080"},
		{fmt.Sprintf("%d Pods more, one after the other", rollout), u.rollOut, "52 addresses, http 8080"},
		{"the Service is deleted", u.unexpose, "none"},
	} {
		began, writes, version := time.Now(), p.writes.Load(), versionIn(p.endpoints.Store().Snapshot())
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		err := p.endpoints.Until(ctx, func(s *store.Snapshot[*corev1.Endpoints]) (bool, error) {
			return versionIn(s) != version && describe(s) == step.want, nil
		})
		if err != nil {
			return fmt.Errorf("%s: waiting for the Endpoints to be %s: %w", step.what, step.want, err)
		}
		fmt.Fprintf(w, "%s\n    %-50s %5d ms, %d written\n", step.what, step.want, time.Since(began).Milliseconds(), p.writes.Load()-writes)
	}
	return nil
}

func versionIn(s *store.Snapshot[*corev1.Endpoints]) string {
	if e, ok := s.Get(object.Key{Namespace: namespace, Name: name}); ok {
		return e.ResourceVersion
	}
	return ""
}

func describe(s *store.Snapshot[*corev1.Endpoints]) string {
	e, ok := s.Get(object.Key{Namespace: namespace, Name: name})
	switch {
	case !ok:
		return "none"
	case len(e.Subsets) == 0:
		return "no addresses"
	}
	subset := e.Subsets[0]
	text := addresses(subset.Addresses)
	if len(subset.NotReadyAddresses) > 0 {
		text += ", not ready " + addresses(subset.NotReadyAddresses)
	}
	for _, port := range subset.Ports {
		text += fmt.Sprintf(", %s %d", port.Name, port.Port)
	}
	return text
}

func addresses(all []corev1.EndpointAddress) string {
	if len(all) > 3 {
		return fmt.Sprint(len(all), " addresses")
	}
	var ips []string
	for _, a := range all {
		ips = append(ips, a.IP)
	}
	return strings.Join(ips, " ")
}

type user struct {
	services  typedcorev1.ServiceInterface
	pods      typedcorev1.PodInterface
	endpoints typedcorev1.EndpointsInterface
}

func (u *user) expose(ctx context.Context) error {
	_, err := u.services.Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			ClusterIP: "10.96.0.7", IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http")}},
		},
	}, metav1.CreateOptions{})
	return err
}

func (u *user) start3(ctx context.Context) error {
	for n := range 3 {
		if err := u.start(ctx, n+1, n < 2); err != nil {
			return err
		}
	}
	return nil
}

func (u *user) start(ctx context.Context, n int, ready bool) error {
	_, err := u.pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: podName(n), Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: "node-1", TerminationGracePeriodSeconds: new(int64(30)),
			Containers: []corev1.Container{{
				Name: name, Image: "web:1.0",
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return u.report(ctx, n, ready)
}

func (u *user) report(ctx context.Context, n int, ready bool) error {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	patch := fmt.Sprintf(`{"status": {"phase": "Running", "podIP": "10.0.0.%[1]d", "podIPs": [{"ip": "10.0.0.%[1]d"}],
		"conditions": [{"type": "Ready", "status": %[2]q, "lastTransitionTime": %[3]q}]}}`,
		n, status, time.Now().UTC().Format(time.RFC3339))
	_, err := u.pods.Patch(ctx, podName(n), types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

func (u *user) delete1(ctx context.Context) error {
	return u.pods.Delete(ctx, podName(1), metav1.DeleteOptions{})
}

func (u *user) publish(ctx context.Context) error {
	_, err := u.services.Patch(ctx, name, types.MergePatchType, []byte(`{"spec": {"publishNotReadyAddresses": true}}`), metav1.PatchOptions{})
	return err
}

func (u *user) unlabel2(ctx context.Context) error {
	_, err := u.pods.Patch(ctx, podName(2), types.MergePatchType, []byte(`{"metadata": {"labels": {"app": null}}}`), metav1.PatchOptions{})
	return err
}

func (u *user) deleteEndpoints(ctx context.Context) error {
	return u.endpoints.Delete(ctx, name, metav1.DeleteOptions{})
}

func (u *user) rollOut(ctx context.Context) error {
	for n := range rollout {
		if err := u.start(ctx, 10+n, true); err != nil {
			return err
		}
	}
	return nil
}

func (u *user) unexpose(ctx context.Context) error {
	return u.services.Delete(ctx, name, metav1.DeleteOptions{})
}

func podName(n int) string { return fmt.Sprint(name, "-", n) }
