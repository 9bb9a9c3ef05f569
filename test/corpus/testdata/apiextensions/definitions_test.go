// SPDX-License-Identifier: Apache-2.0

package user

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"

	listers "corpus.example/user/generated/listers/apiextensions/v1"
)

func definition(group, kind, plural string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group}}
	crd.Spec.Group, crd.Spec.Scope = group, apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
	}}
	return crd
}

// established reports whether the server serves the definition's resource.
func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established {
			return c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

func TestCustomResourceDefinitions(t *testing.T) {
	for _, test := range []struct {
		name, group string
		format      source.Format
		mediaType   string
	}{
		{"JSON", "json.corpus.example", source.JSON, "application/json"},
		{"protobuf", "protobuf.corpus.example", source.Protobuf, "application/vnd.kubernetes.protobuf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := devserver(t)
			server := resource(t, config, listers.CustomResourceDefinitionResource(), "")
			factory, answers := newFactory(t, config, informer.WithFormats(test.format))
			crds := factory.Apiextensions().V1().CustomResourceDefinitions()
			lister := crds.Lister()
			start(t, factory)

			if routes := lister.ListByGroup("gateway.networking.k8s.io"); len(routes) < 8 {
				t.Errorf(`ListByGroup("gateway.networking.k8s.io") = %q, want all CRDs of Gateway API`, names(routes))
			}
			classes, err := lister.Get("gatewayclasses.gateway.networking.k8s.io")
			if err != nil {
				t.Fatal(err)
			}
			if !established(classes) || classes.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Type != "object" {
				t.Errorf("Get of the CRD of GatewayClasses = %v, want it established and with a schema", classes)
			}
			wantNames(t, "namespaced kinds of the name GatewayClass", lister.ListByKind("GatewayClass"))
			wantNames(t, "namespaced kinds of the name HTTPRoute", lister.ListByKind("HTTPRoute"), "httproutes.gateway.networking.k8s.io")

			name := "gadgets." + test.group
			create(t, server, untyped(t, listers.CustomResourceDefinitionResource(), definition(test.group, "Gadget", "gadgets")))
			err = crds.Informer().Until(deadline(t), func(all *store.Snapshot[*apiextensionsv1.CustomResourceDefinition]) (bool, error) {
				crd, ok := all.Get(object.Key{Name: name})
				return ok && established(crd), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			wantNames(t, "kinds of "+test.group, lister.ListByGroup(test.group), name)
			remove(t, server, name)
			// The server's finalizer may take minutes if it runs before the resource is served.
			err = crds.Informer().Until(deadline(t), func(all *store.Snapshot[*apiextensionsv1.CustomResourceDefinition]) (bool, error) {
				crd, ok := all.Get(object.Key{Name: name})
				return !ok || crd.DeletionTimestamp != nil, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			answers.wantFormat(t, test.mediaType, test.mediaType+";stream=watch")
		})
	}
}
