// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/controller/apiapproval"
	"k8s.io/apiextensions-apiserver/pkg/controller/establish"
	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	"k8s.io/apiextensions-apiserver/pkg/controller/nonstructuralschema"
	"k8s.io/apiextensions-apiserver/pkg/controller/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// TestCRDControllers runs the API server's own CRD controllers outside of the server.
func TestCRDControllers(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine) []string {
		server := devservertest.Start(t, devserver.Options{DisableCRDControllers: true})
		client, err := apiextensions.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		objects, err := dynamic.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		crds := client.ApiextensionsV1().CustomResourceDefinitions()
		create := func(crd *apiextensionsv1.CustomResourceDefinition) {
			t.Helper()
			if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		create(crdOf("first", "Ship"))

		c := newControllers(t)
		runCRDControllers(t, c, e, server, client, objects)
		expect := func(name, want string) {
			t.Helper()
			poll.Until(t, func() error {
				crd, err := crds.Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if got := conditionsOf(crd); got != want {
					return fmt.Errorf("%s: the conditions are %s, want %s", name, got, want)
				}
				return nil
			})
		}
		const served = "Established=True NamesAccepted=True"
		expect("firsts.example.com", served)
		create(crdOf("second", "Boat"))
		expect("seconds.example.com", served)
		create(crdOf("third", "Boat")) // another CRD has this kind
		expect("thirds.example.com", "Established=False NamesAccepted=False")
		approved := crdOf("fourth", "Raft")
		approved.Name, approved.Spec.Group = "fourths.example.k8s.io", "example.k8s.io"
		approved.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, for a test"}
		create(approved)
		expect("fourths.example.k8s.io", "Established=True KubernetesAPIApprovalPolicyConformant=False NamesAccepted=True")

		boats := objects.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "seconds"}).Namespace("default")
		poll.Until(t, func() error {
			boat := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Boat", "metadata": map[string]any{"name": "one", "finalizers": []any{"example.com/wait"}},
			}}
			if _, err := boats.Create(t.Context(), boat, metav1.CreateOptions{}); err != nil {
				return err
			}
			return nil
		})
		if err := crds.Delete(t.Context(), "seconds.example.com", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		poll.Until(t, func() error {
			boat, err := boats.Get(t.Context(), "one", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if boat.GetDeletionTimestamp() == nil {
				return errors.New("the Boat is not being deleted")
			}
			boat.SetFinalizers(nil)
			if _, err := boats.Update(t.Context(), boat, metav1.UpdateOptions{}); err != nil {
				return err
			}
			return nil
		})
		poll.Until(t, func() error {
			if _, err := crds.Get(t.Context(), "seconds.example.com", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("the CRD is still there: %v", err)
			}
			return nil
		})
		expect("thirds.example.com", served) // the name is free now
		return endState(t, server.Config(), crdResource)
	})
}

// runCRDControllers runs the controllers that the API server leaves out with
// Options.DisableCRDControllers.
func runCRDControllers(t *testing.T, c *controllers, e engine, server *devserver.Server, client apiextensions.Interface, objects dynamic.Interface) {
	t.Helper()
	factory := e.crdFactory(t, server.Config())
	informer := factory.Apiextensions().V1().CustomResourceDefinitions()
	establishing := establish.NewEstablishingController(informer, client.ApiextensionsV1())
	naming := status.NewNamingConditionController(klog.FromContext(c.ctx), informer, client.ApiextensionsV1())
	schemas := nonstructuralschema.NewConditionController(informer, client.ApiextensionsV1())
	approval := apiapproval.NewKubernetesAPIApprovalPolicyConformantConditionController(informer, client.ApiextensionsV1())
	deleting := finalizer.NewCRDFinalizer(informer, client.ApiextensionsV1(), deleters{objects})
	// In the API server, the handler of custom resources does this.
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			crd := obj.(*apiextensionsv1.CustomResourceDefinition)
			if isTrue(crd, apiextensionsv1.NamesAccepted) && !isTrue(crd, apiextensionsv1.Established) {
				establishing.QueueCRD(crd.Name, time.Millisecond)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.runFactory(factory)
	c.run(establishing.RunWithContext)
	c.run(naming.RunWithContext)
	c.run(func(ctx context.Context) { schemas.RunWithContext(1, ctx) })
	c.run(func(ctx context.Context) { approval.RunWithContext(1, ctx) })
	c.run(func(ctx context.Context) { deleting.RunWithContext(1, ctx) })
}

func crdOf(name, kind string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name + "s.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: name + "s", Singular: name, Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

func isTrue(crd *apiextensionsv1.CustomResourceDefinition, which apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == which && c.Status == apiextensionsv1.ConditionTrue
	})
}

func conditionsOf(crd *apiextensionsv1.CustomResourceDefinition) string {
	var all []string
	for _, c := range crd.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// deleters returns the finalizer's deleters. In the API server these belong to the handler of
// custom resources.
type deleters struct{ client dynamic.Interface }

func (d deleters) GetCustomResourceListerCollectionDeleter(crd *apiextensionsv1.CustomResourceDefinition) (finalizer.ListerCollectionDeleter, error) {
	resource := schema.GroupVersionResource{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Resource: crd.Spec.Names.Plural}
	return collection{d.client.Resource(resource)}, nil
}

// collection lists and deletes the objects of a CRD by requests.
type collection struct {
	objects dynamic.NamespaceableResourceInterface
}

func (collection) NewList() runtime.Object { return &unstructured.UnstructuredList{} }

func (c collection) List(ctx context.Context, _ *internalversion.ListOptions) (runtime.Object, error) {
	return c.objects.Namespace(request.NamespaceValue(ctx)).List(ctx, metav1.ListOptions{})
}

func (collection) ConvertToTable(context.Context, runtime.Object, runtime.Object) (*metav1.Table, error) {
	return nil, fmt.Errorf("a finalizer needs no table")
}

func (c collection) DeleteCollection(ctx context.Context, _ rest.ValidateObjectFunc, options *metav1.DeleteOptions, _ *internalversion.ListOptions) (runtime.Object, error) {
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	return nil, c.objects.Namespace(request.NamespaceValue(ctx)).DeleteCollection(ctx, *options, metav1.ListOptions{})
}
