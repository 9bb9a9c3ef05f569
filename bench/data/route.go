// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// NewRoute returns the i-th of n HTTPRoutes as an implementation of the Gateway API leaves them: to
// one of 12 gateways, with 1 to 4 rules, accepted. Its name, UID, resourceVersion, host, paths,
// backends and times are its own.
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
