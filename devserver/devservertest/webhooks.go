// SPDX-License-Identifier: Apache-2.0

package devservertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
)

// Webhooks is the place where an API server calls the webhooks of a test. The test serves them
// there, for example with controller-runtime's webhook.Server, whose options are Host, Port and
// CertDir.
type Webhooks struct {
	// Host and Port are an address of this machine that was free.
	Host string
	Port int
	// CertDir has a certificate for Host, and its key: tls.crt and tls.key.
	CertDir string
	// CA is the authority of the certificates, in PEM.
	CA []byte

	authority *authority
}

// InstallWebhooks makes certificates and installs the webhooks of the named files and folders, as
// WebhookInstallOptions of envtest does:
//
//	installed := devservertest.InstallWebhooks(t, server, "config/crd", "config/webhook")
//
// It reads MutatingWebhookConfigurations, ValidatingWebhookConfigurations, and
// CustomResourceDefinitions, and skips other kinds. Wherever one of them names a Service, the
// server calls the same path at Host and Port instead. A CRD without versions is a patch, as
// kubebuilder writes them to config/crd/patches: the CRD of its name gets its spec.conversion.
//
// The CRDs are served, and the configurations in force, when InstallWebhooks returns; without
// configurations, the server needs no Options.BuiltInKinds. If something fails, InstallWebhooks
// ends the test with t.Fatal and the reason. After the test it removes the configurations.
func InstallWebhooks(t testing.TB, server *devserver.Server, paths ...string) *Webhooks {
	t.Helper()
	w, err := newWebhooks(t.TempDir())
	if err != nil {
		t.Fatalf("devservertest: make the certificates of webhooks: %v", err)
	}
	found, err := readWebhooks(paths)
	if err != nil {
		t.Fatalf("devservertest: read the webhooks of %s: %v", strings.Join(paths, ", "), err)
	}
	w.redirect(found)
	if err := server.InstallCRDs(t.Context(), found.crds...); err != nil {
		t.Fatalf("devservertest: %v", err)
	}
	if len(found.mutating)+len(found.validating) == 0 {
		return w
	}
	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatalf("devservertest: install webhooks: %v", err)
	}
	t.Cleanup(func() { found.remove(context.WithoutCancel(t.Context()), client) })
	if err := found.install(t.Context(), client); err != nil {
		t.Fatalf("devservertest: install webhooks: %v", err)
	}
	return w
}

// RenewCertificate replaces the certificate by a new one of the same authority, as cert-manager
// does before one expires.
func (w *Webhooks) RenewCertificate(t testing.TB) {
	t.Helper()
	if err := w.authority.issue(w.CertDir, w.Host); err != nil {
		t.Fatalf("devservertest: renew the certificate of webhooks: %v", err)
	}
}

func newWebhooks(dir string) (*Webhooks, error) {
	const host = "127.0.0.1"
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return nil, err
	}
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	w := &Webhooks{Host: host, Port: port, CertDir: dir, CA: ca.pem, authority: ca}
	return w, ca.issue(dir, host)
}

// redirect replaces the Services of all webhooks by the URL of w.
func (w *Webhooks) redirect(found *manifests) {
	url := func(path *string) *string {
		at := "https://" + net.JoinHostPort(w.Host, strconv.Itoa(w.Port))
		if path != nil {
			at += *path
		}
		return &at
	}
	admission := func(c *admissionv1.WebhookClientConfig) {
		if c.Service != nil {
			*c = admissionv1.WebhookClientConfig{URL: url(c.Service.Path), CABundle: w.CA}
		}
	}
	for _, configuration := range found.mutating {
		for i := range configuration.Webhooks {
			admission(&configuration.Webhooks[i].ClientConfig)
		}
	}
	for _, configuration := range found.validating {
		for i := range configuration.Webhooks {
			admission(&configuration.Webhooks[i].ClientConfig)
		}
	}
	for _, crd := range found.crds {
		if c := crd.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.Service != nil {
			c.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: url(c.Webhook.ClientConfig.Service.Path), CABundle: w.CA}
		}
	}
}

// install creates the configurations, and waits until they are in force: until the server calls
// probes, webhooks that were installed later. They can't be called, so they fail their request.
func (found *manifests) install(ctx context.Context, client kubernetes.Interface) error {
	probes := newProbes()
	defer probes.remove(context.WithoutCancel(ctx), client)
	if err := errors.Join(found.create(ctx, client), probes.create(ctx, client)); err != nil {
		return err
	}
	for _, name := range []string{mutatingProbe, validatingProbe} {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{probeLabel: name}}}
		err := wait.PollUntilContextCancel(ctx, 2*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			_, err := client.CoordinationV1().Leases("default").Create(ctx, lease, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook") {
				return true, nil
			}
			return false, err
		})
		if err != nil {
			return fmt.Errorf("wait until the webhooks are in force: %w", err)
		}
	}
	return nil
}

const (
	mutatingProbe   = "mutating.devservertest.example.com"
	validatingProbe = "validating.devservertest.example.com"
	probeLabel      = "devservertest.example.com/probe"
)

// newProbes returns two webhooks for Leases whose label has their name.
func newProbes() *manifests {
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{"coordination.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"leases"}},
	}}
	only := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{probeLabel: name}}
	}
	unreachable := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "none"}}
	return &manifests{
		mutating: []*admissionv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: mutatingProbe},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name: mutatingProbe, Rules: rules, ObjectSelector: only(mutatingProbe), ClientConfig: unreachable,
				SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			}},
		}},
		validating: []*admissionv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: validatingProbe},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: validatingProbe, Rules: rules, ObjectSelector: only(validatingProbe), ClientConfig: unreachable,
				SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			}},
		}},
	}
}

func (found *manifests) create(ctx context.Context, client kubernetes.Interface) error {
	api := client.AdmissionregistrationV1()
	for _, one := range found.mutating {
		if _, err := api.MutatingWebhookConfigurations().Create(ctx, one, metav1.CreateOptions{}); err != nil {
			return explainMissing(one.Name, err)
		}
	}
	for _, one := range found.validating {
		if _, err := api.ValidatingWebhookConfigurations().Create(ctx, one, metav1.CreateOptions{}); err != nil {
			return explainMissing(one.Name, err)
		}
	}
	return nil
}

func explainMissing(name string, err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%s: the server has no webhook configurations; start it with Options.BuiltInKinds: %w", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// remove deletes the configurations. Errors don't matter: the server may have ended.
func (found *manifests) remove(ctx context.Context, client kubernetes.Interface) {
	api := client.AdmissionregistrationV1()
	for _, one := range found.mutating {
		_ = api.MutatingWebhookConfigurations().Delete(ctx, one.Name, metav1.DeleteOptions{})
	}
	for _, one := range found.validating {
		_ = api.ValidatingWebhookConfigurations().Delete(ctx, one.Name, metav1.DeleteOptions{})
	}
}
