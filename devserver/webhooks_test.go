// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/devserver"
)

// webhook answers reviews with the patch or the refusal that decide returns.
func webhook(t *testing.T, decide func(obj *unstructured.Unstructured) (patch, refusal string)) admissionregistrationv1.WebhookClientConfig {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var review admissionv1.AdmissionReview
		if err == nil {
			err = json.Unmarshal(body, &review)
		}
		obj := &unstructured.Unstructured{}
		if err == nil {
			err = json.Unmarshal(review.Request.Object.Raw, &obj.Object)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		patch, refusal := decide(obj)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: refusal == "", Result: &metav1.Status{Message: refusal, Code: http.StatusForbidden}}
		if patch != "" {
			review.Response.Patch, review.Response.PatchType = []byte(patch), new(admissionv1.PatchTypeJSONPatch)
		}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	url := server.URL + "/review"
	return admissionregistrationv1.WebhookClientConfig{
		URL:      &url,
		CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
}

func creations(group, version, resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
	}}
}

var none = admissionregistrationv1.SideEffectClassNone

// installWebhooks registers webhooks for boats and for configmaps, and waits until they are in
// force: until inForce accepts the results of dry creates of two configmaps.
func installWebhooks(t *testing.T, s *devserver.Server, mutate, validate admissionregistrationv1.WebhookClientConfig, inForce func(probe *corev1.ConfigMap, err, refusal error) bool) {
	t.Helper()
	c := typed(t, s).AdmissionregistrationV1()
	both := append(creations(boats.Group, boats.Version, boats.Resource), creations("", "v1", "configmaps")...)
	_, err := c.MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "mutate"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "mutate.example.com", ClientConfig: mutate, Rules: both, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "validate"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.example.com", ClientConfig: validate, Rules: both, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string) (*corev1.ConfigMap, error) {
		return typed(t, s).CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	eventually(t, func() error {
		probe, err := try("probe")
		if _, refusal := try("refused"); !inForce(probe, err, refusal) {
			return fmt.Errorf("the webhooks aren't in force: %v, %v, %v", probe, err, refusal)
		}
		return nil
	})
}

func TestAdmissionWebhooks(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t, "boats")
	mutate := webhook(t, func(obj *unstructured.Unstructured) (string, string) {
		if obj.GetKind() == "Boat" {
			return `[{"op":"replace","path":"/spec/berth","value":"mutated"}]`, ""
		}
		return `[{"op":"add","path":"/metadata/labels","value":{"mutated":"yes"}}]`, ""
	})
	validate := webhook(t, func(obj *unstructured.Unstructured) (string, string) {
		mutated := obj.GetLabels()["mutated"] == "yes" || field(obj, "spec", "berth") == "mutated"
		if obj.GetName() == "refused" || !mutated {
			return "", "it is refused"
		}
		return "", ""
	})
	installWebhooks(t, s, mutate, validate, func(probe *corev1.ConfigMap, err, refusal error) bool {
		return err == nil && probe.Labels["mutated"] == "yes" && apierrors.IsForbidden(refusal)
	})

	if b := create(t, s, "ada", "a"); field(b, "spec", "berth") != "mutated" {
		t.Errorf("created %v", b)
	}
	_, err := client(t, s).Resource(boats).Namespace("default").Create(t.Context(), boat("refused", "a"), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `admission webhook "validate.example.com" denied the request: it is refused`) {
		t.Errorf("a create that the webhook refuses returns %v", err)
	}
	cm, err := typed(t, s).CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if err != nil || cm.Labels["mutated"] != "yes" {
		t.Errorf("created %v, %v", cm, err)
	}

	if err := typed(t, s).AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(t.Context(), "mutate", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := typed(t, s).AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "validate", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := client(t, s).Resource(boats).Namespace("default").Create(t.Context(), boat("refused", "a"), metav1.CreateOptions{})
		return err
	})
}

// A webhook that can't be called fails the request, and the error says why.
func TestWebhookOfService(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	service := admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "shop", Name: "hook"}}
	installWebhooks(t, s, service, service, func(_ *corev1.ConfigMap, err, _ error) bool {
		return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "this server doesn't reach Services; give the webhook's clientConfig a url")
	})
}
