// SPDX-License-Identifier: Apache-2.0

package user

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	listers "corpus.example/user/generated/listers/gateway/v1"
)

func route(name string, hostname gatewayv1.Hostname, parents ...gatewayv1.ObjectName) *gatewayv1.HTTPRoute {
	r := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, parent := range parents {
		r.Spec.ParentRefs = append(r.Spec.ParentRefs, gatewayv1.ParentReference{Name: parent})
	}
	r.Spec.Hostnames = []gatewayv1.Hostname{hostname}
	return r
}

func TestHTTPRoutes(t *testing.T) {
	config := devserver(t)
	shop, depot := resource(t, config, listers.HTTPRouteResource(), "shop"), resource(t, config, listers.HTTPRouteResource(), "depot")
	create(t, shop, untyped(t, listers.HTTPRouteResource(), route("blue", "blue.example.com", "public")))

	factory, answers := newFactory(t, config)
	routes := factory.Gateway().V1().HTTPRoutes()
	lister := routes.Lister()
	told := record(t, routes.Informer(), func(r *gatewayv1.HTTPRoute) bool { return r.Namespace == "shop" })
	start(t, factory)

	create(t, depot, untyped(t, listers.HTTPRouteResource(), route("green", "green.example.com", "public")))
	green := create(t, shop, untyped(t, listers.HTTPRouteResource(), route("green", "green.example.com", "public", "internal")))
	await(t, routes.Informer(), green)
	wantNames(t, "routes of the gateway public in shop", lister.HTTPRoutes("shop").ListByParent("public"), "blue", "green")
	wantNames(t, "routes of the gateway public in depot", lister.HTTPRoutes("depot").ListByParent("public"), "green")
	wantNames(t, "routes of the gateway internal in depot", lister.HTTPRoutes("depot").ListByParent("internal"))
	wantNames(t, "routes of green.example.com", lister.ListByHostname("green.example.com"), "green", "green")

	green.Object["spec"].(map[string]any)["hostnames"] = []any{"lime.example.com"}
	await(t, routes.Informer(), update(t, shop, green))
	wantNames(t, "routes of green.example.com after the update", lister.ListByHostname("green.example.com"), "green")
	if r, err := lister.HTTPRoutes("shop").Get("green"); err != nil || r.Spec.Hostnames[0] != "lime.example.com" || len(r.Spec.Rules) != 1 {
		t.Errorf(`Get("green") = %v, %v; want the host name lime.example.com and the rule added by the server`, r, err)
	}
	remove(t, shop, "blue")
	told.want(t, "add blue", "add green", "update green", "delete blue")
	if _, err := lister.HTTPRoutes("shop").Get("blue"); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a deleted route: got error %v, want NotFound", err)
	}
	answers.wantFormat(t, "application/json")
}

// TestVersions runs the informers of two versions of one resource.
func TestVersions(t *testing.T) {
	config := devserver(t)
	classes := resource(t, config, listers.GatewayClassResource(), "")
	class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: "versions"}}
	class.Spec.ControllerName = "corpus.example/controller"
	created := create(t, classes, untyped(t, listers.GatewayClassResource(), class))

	factory, _ := newFactory(t, config)
	v1, v1beta1 := factory.Gateway().V1().GatewayClasses(), factory.Gateway().V1beta1().GatewayClasses()
	older, newer := v1beta1.Lister(), v1.Lister()
	start(t, factory)
	await(t, v1.Informer(), created)
	await(t, v1beta1.Informer(), created)
	a, err := newer.Get("versions")
	if err != nil {
		t.Fatal(err)
	}
	b, err := older.Get("versions")
	if err != nil {
		t.Fatal(err)
	}
	if a.UID != b.UID || a.Spec.ControllerName != b.Spec.ControllerName {
		t.Errorf("the class of v1 is %v, of v1beta1 %v", a, b)
	}
}
