// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// crNamespace and crName put the i-th custom resource of n into the order of namespaces and names.
func crNamespace(i, n int) string { return fmt.Sprintf("tenant-%03d", i*100/max(n, 1)) }

func crMeta(r *rand.Rand, i, n int, name string, labels map[string]string, writers ...fieldsWriter) metav1.ObjectMeta {
	created := epoch.Add(time.Duration(r.IntN(90*24*3600)) * time.Second)
	m := metav1.ObjectMeta{
		Name:              name,
		Namespace:         crNamespace(i, n),
		UID:               newUID(r),
		ResourceVersion:   strconv.Itoa(oldVersion(uint64(i))),
		Generation:        int64(1 + r.IntN(5)),
		CreationTimestamp: metav1.NewTime(created),
		Labels:            labels,
	}
	for k, w := range writers {
		m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: w.name, Operation: w.operation, APIVersion: w.version, Subresource: w.subresource,
			Time: new(metav1.NewTime(created.Add(time.Duration(k*(3+r.IntN(60))) * time.Second))), FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(w.fields),
		})
	}
	return m
}

// fieldsWriter is a manager of fields.
type fieldsWriter struct {
	name, version, subresource, fields string
	operation                          metav1.ManagedFieldsOperationType
}

// NewCertificate returns the i-th of n Certificates as cert-manager leaves them: issued by one of 8
// issuers, made by Helm or for an Ingress, ready. It has about 2 KB of JSON. Its own are its name,
// UID, resourceVersion, DNS names, secret, times and revision.
func NewCertificate(i, n int) *Certificate {
	r := rand.New(rand.NewPCG(seedOfCertificates, uint64(i)))
	team := teams[r.IntN(len(teams))]
	name := fmt.Sprintf("%s-%05d-tls", team, i)
	host := fmt.Sprintf("%s-%05d.apps.example.com", team, i)
	notBefore := epoch.Add(time.Duration(r.IntN(90*24*3600)) * time.Second)
	issuer := r.IntN(8)
	c := &Certificate{
		TypeMeta: metav1.TypeMeta{Kind: "Certificate", APIVersion: certificatesVersion.String()},
		ObjectMeta: crMeta(r, i, n, name, map[string]string{
			"app.kubernetes.io/instance": team, "app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "app-2." + strconv.Itoa(issuer) + ".0",
		}, certificateWriters...),
		Spec: certificateSpec{
			Subject:              &x509Subject{Organizations: []string{"Example Ltd"}, OrganizationalUnits: []string{team}},
			CommonName:           host,
			Duration:             &metav1.Duration{Duration: 2160 * time.Hour},
			RenewBefore:          &metav1.Duration{Duration: 360 * time.Hour},
			DNSNames:             []string{host, "www." + host},
			SecretName:           name,
			IssuerRef:            issuerReference{Name: fmt.Sprintf("issuer-%d", issuer), Kind: "ClusterIssuer", Group: "cert-manager.io"},
			Usages:               []keyUsage{"digital signature", "key encipherment", "server auth"},
			PrivateKey:           &privateKey{Algorithm: "ECDSA", Size: 256, RotationPolicy: "Always"},
			SecretTemplate:       &secretTemplate{Labels: map[string]string{"team": team}},
			RevisionHistoryLimit: new(int32(1)),
		},
		Status: certificateStatus{
			Conditions: []certificateCondition{{
				Type: "Ready", Status: metav1.ConditionTrue, LastTransitionTime: new(metav1.NewTime(notBefore.Add(time.Hour + 7*time.Second))),
				Reason: "Ready", Message: "Certificate is up to date and has not expired", ObservedGeneration: 1,
			}},
			NotBefore:   new(metav1.NewTime(notBefore)),
			NotAfter:    new(metav1.NewTime(notBefore.Add(2160 * time.Hour))),
			RenewalTime: new(metav1.NewTime(notBefore.Add(1800 * time.Hour))),
			Revision:    new(1 + r.IntN(9)),
		},
	}
	c.Status.Conditions[0].ObservedGeneration = c.Generation
	return c
}

var certificateWriters = []fieldsWriter{
	{name: "helm", version: "cert-manager.io/v1", operation: metav1.ManagedFieldsOperationUpdate,
		fields: `{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:helm.sh/chart":{}}},` +
			`"f:spec":{".":{},"f:commonName":{},"f:dnsNames":{},"f:duration":{},"f:issuerRef":{".":{},"f:group":{},"f:kind":{},"f:name":{}},` +
			`"f:privateKey":{".":{},"f:algorithm":{},"f:rotationPolicy":{},"f:size":{}},"f:renewBefore":{},"f:revisionHistoryLimit":{},` +
			`"f:secretName":{},"f:secretTemplate":{".":{},"f:labels":{".":{},"f:team":{}}},` +
			`"f:subject":{".":{},"f:organizationalUnits":{},"f:organizations":{}},"f:usages":{}}}`},
	{name: "cert-manager-certificates-readiness", version: "cert-manager.io/v1", subresource: "status", operation: metav1.ManagedFieldsOperationUpdate,
		fields: `{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},` +
			`"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:notAfter":{},"f:notBefore":{},"f:renewalTime":{},"f:revision":{}}}`},
}

// NewRoute returns the i-th of n HTTPRoutes as an implementation of the Gateway API leaves them: to
// one of 12 gateways, with 1 to 4 rules, accepted. It has about 3 KB of JSON. Its own are its name,
// UID, resourceVersion, host, paths, backends and times.
func NewRoute(i, n int) *gatewayv1.HTTPRoute {
	r := rand.New(rand.NewPCG(seedOfRoutes, uint64(i)))
	team := teams[r.IntN(len(teams))]
	name := fmt.Sprintf("%s-%05d", team, i)
	gateway := r.IntN(12)
	parent := gatewayv1.ParentReference{
		Group: new(gatewayv1.Group("gateway.networking.k8s.io")), Kind: new(gatewayv1.Kind("Gateway")),
		Namespace: new(gatewayv1.Namespace("gateway-system")), Name: gatewayv1.ObjectName(fmt.Sprintf("shared-%d", gateway)),
		SectionName: new(gatewayv1.SectionName("https")),
	}
	route := &gatewayv1.HTTPRoute{
		TypeMeta: metav1.TypeMeta{Kind: "HTTPRoute", APIVersion: routesVersion.String()},
		ObjectMeta: crMeta(r, i, n, name, map[string]string{
			"app.kubernetes.io/instance": name, "app.kubernetes.io/part-of": team, "kustomize.toolkit.fluxcd.io/name": "apps",
		}, routeWriters...),
		Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parent}},
			Hostnames:       []gatewayv1.Hostname{gatewayv1.Hostname(name + ".apps.example.com")},
		},
	}
	for rule := range 1 + r.IntN(4) {
		route.Spec.Rules = append(route.Spec.Rules, gatewayv1.HTTPRouteRule{
			Matches: []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{
				Type: new(gatewayv1.PathMatchPathPrefix), Value: new(fmt.Sprintf("/%s/v%d", word(r, 6), rule+1))}}},
			Filters: []gatewayv1.HTTPRouteFilter{{Type: gatewayv1.HTTPRouteFilterRequestHeaderModifier,
				RequestHeaderModifier: &gatewayv1.HTTPHeaderFilter{Set: []gatewayv1.HTTPHeader{
					{Name: "X-Forwarded-Prefix", Value: "/"}, {Name: "X-Team", Value: team}}}}},
			BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: gatewayv1.BackendRef{
				BackendObjectReference: gatewayv1.BackendObjectReference{
					Group: new(gatewayv1.Group("")), Kind: new(gatewayv1.Kind("Service")),
					Name: gatewayv1.ObjectName(fmt.Sprintf("%s-%d", name, rule)), Port: new(gatewayv1.PortNumber(8080))},
				Weight: new(int32(1))}}},
			Timeouts: &gatewayv1.HTTPRouteTimeouts{Request: new(gatewayv1.Duration("30s")), BackendRequest: new(gatewayv1.Duration("10s"))},
		})
	}
	changed := metav1.NewTime(route.CreationTimestamp.Add(time.Duration(r.IntN(3600)) * time.Second))
	condition := func(t, reason, message string) metav1.Condition {
		return metav1.Condition{Type: t, Status: metav1.ConditionTrue, ObservedGeneration: route.Generation,
			LastTransitionTime: changed, Reason: reason, Message: message}
	}
	route.Status.Parents = []gatewayv1.RouteParentStatus{{
		ParentRef: parent, ControllerName: "gateway.envoyproxy.io/gatewayclass-controller",
		Conditions: []metav1.Condition{
			condition("Accepted", "Accepted", "Route is accepted"),
			condition("ResolvedRefs", "ResolvedRefs", "Resolved all the Object references for the Route"),
		},
	}}
	return route
}

var routeWriters = []fieldsWriter{
	{name: "kustomize-controller", version: "gateway.networking.k8s.io/v1", operation: metav1.ManagedFieldsOperationApply,
		fields: `{"f:metadata":{"f:labels":{"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/part-of":{},"f:kustomize.toolkit.fluxcd.io/name":{}}},` +
			`"f:spec":{"f:hostnames":{},"f:parentRefs":{},"f:rules":{}}}`},
	{name: "envoy-gateway", version: "gateway.networking.k8s.io/v1", subresource: "status", operation: metav1.ManagedFieldsOperationUpdate,
		fields: `{"f:status":{".":{},"f:parents":{}}}`},
}
