// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/informer-gen/informer-gen/devserver"
)

// TestExpireWatchesOfDeleted deletes a CRD while ExpireWatches is under way, which goes on without
// it: a webhook does so when another CRD is changed.
func TestExpireWatchesOfDeleted(t *testing.T) {
	t.Parallel()
	yachts := boatCRD()
	yachts.Name, yachts.Spec.Names = "yachts.harbour.example.com", apiextensionsv1.CustomResourceDefinitionNames{Plural: "yachts", Kind: "Yacht"}
	s := start(t, devserver.Options{BuiltInKinds: true, CRDs: crds{boatCRD(), yachts}})
	all, err := clientset.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	client := all.ApiextensionsV1().CustomResourceDefinitions()
	var inForce, deletes atomic.Bool
	hook := webhook(t, func(*unstructured.Unstructured) (string, string) {
		inForce.Store(true)
		if !deletes.CompareAndSwap(true, false) {
			return "", ""
		}
		err := client.Delete(context.Background(), yachts.Name, metav1.DeleteOptions{})
		if err == nil { // its finalizer takes some time
			err = wait.PollUntilContextTimeout(context.Background(), 10*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
				_, err := client.Get(ctx, yachts.Name, metav1.GetOptions{})
				return apierrors.IsNotFound(err), nil
			})
		}
		if err != nil {
			return "", err.Error()
		}
		return "", ""
	})
	rules := creations(apiextensionsv1.GroupName, "v1", "customresourcedefinitions")
	rules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	_, err = typed(t, s).AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "delete"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "delete.example.com", ClientConfig: hook, Rules: rules, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(30)),
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		boats, err := client.Get(t.Context(), boatCRD().Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if _, err = client.Update(t.Context(), boats, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}); err == nil && !inForce.Load() {
			err = errors.New("the webhook isn't in force")
		}
		return err
	})
	deletes.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.ExpireWatches(ctx); err != nil || deletes.Load() {
		t.Errorf("ExpireWatches returns %v; the CRD was not deleted: %t", err, deletes.Load())
	}
}
