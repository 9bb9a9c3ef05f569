// SPDX-License-Identifier: Apache-2.0

package controllerruntime_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// onNode is the defaulter and the validator of Pods: they need a node.
type onNode struct{}

func (onNode) Default(_ context.Context, obj runtime.Object) error {
	if pod := obj.(*corev1.Pod); pod.Spec.NodeName == "" {
		pod.Spec.NodeName = "node-1"
	}
	return nil
}

func (onNode) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if obj.(*corev1.Pod).Spec.NodeName == "" {
		return nil, errors.New("the Pod needs a node")
	}
	return nil, nil
}

func (v onNode) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

func (onNode) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}

// setup does as a SetupPodWebhookWithManager, whose builder differs between the versions.
func setup(mgr ctrlmanager.Manager) error {
	server := mgr.GetWebhookServer()
	server.Register("/mutate--v1-pod", admission.WithCustomDefaulter(mgr.GetScheme(), &corev1.Pod{}, onNode{}))
	//lint:ignore SA1019 v0.21 and v0.22 have no WithValidator
	server.Register("/validate--v1-pod", admission.WithCustomValidator(mgr.GetScheme(), &corev1.Pod{}, onNode{}))
	return nil
}

// standby is an election that this process never wins.
type standby struct{}

func (standby) Run(ctx context.Context, _ func(context.Context) error) error {
	<-ctx.Done()
	return nil
}
func (standby) Fence(config *rest.Config) *rest.Config { return config }
func (standby) Leading() bool                          { return false }
func (standby) Name() string                           { return "shop/standby" }

// newManager returns a manager with webhooks that does not lead.
func newManager(t *testing.T, webhooks manager.Descriptor) *manager.Manager {
	t.Helper()
	client, err := source.NewClient(cluster())
	if err != nil {
		t.Fatal(err)
	}
	m, err := manager.New(manager.Options{
		Config: cluster(), Factory: factories.New(client), Election: standby{}, Controllers: []manager.Descriptor{webhooks},
		Authorize: func(*http.Request) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run runs a manager until the test ends.
func run(t *testing.T, m *manager.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run() = %v, want %v", err, context.Canceled)
		}
	})
}

// serverOptions returns the options of a server at a free port, whose folder has a certificate.
func serverOptions(t *testing.T) webhook.Options {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return webhook.Options{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, CertDir: t.TempDir()}
}

// writeCertificate writes a new certificate into a folder, and returns its authority.
func writeCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// eventually calls f until it returns nil.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// probe returns an error unless a path answers 200.
func probe(m *manager.Manager, path string) error {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		return fmt.Errorf("%s answers %d %s", path, w.Code, w.Body)
	}
	return nil
}

// review asks a webhook about a new Pod. It connects anew.
func review(t *testing.T, options webhook.Options, trusted *x509.CertPool, path string, pod *corev1.Pod) (*admissionv1.AdmissionResponse, error) {
	t.Helper()
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	raw, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request:  &admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw}},
	})
	if err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("https://%s:%d%s", options.Host, options.Port, path)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, err
	}
	return answer.Response, nil
}

// TestWebhooks: a process that does not lead answers, and is ready only then; it reloads its
// certificate.
func TestWebhooks(t *testing.T) {
	options := serverOptions(t)
	trusted := writeCertificate(t, options.CertDir)
	m := newManager(t, controllerruntime.Webhooks(scheme.Scheme, options, setup))
	run(t, m)
	eventually(t, func() error { return probe(m, "/readyz") })

	pod := &corev1.Pod{}
	answer, err := review(t, options, trusted, "/mutate--v1-pod", pod)
	if err != nil || !answer.Allowed || !strings.Contains(string(answer.Patch), "node-1") {
		t.Errorf("the defaulter answers %v, %v", answer, err)
	}
	answer, err = review(t, options, trusted, "/validate--v1-pod", pod)
	if err != nil || answer.Allowed || answer.Result.Message != "the Pod needs a node" {
		t.Errorf("the validator answers %v, %v", answer, err)
	}

	trusted = writeCertificate(t, options.CertDir)
	eventually(t, func() error {
		_, err := review(t, options, trusted, "/validate--v1-pod", pod)
		return err
	})
	for _, path := range []string{"/readyz", "/healthz", "/debug/informers", "/debug/controllers/webhooks"} {
		if err := probe(m, path); err != nil {
			t.Error(err)
		}
	}
}

func TestFlagsOfWebhooks(t *testing.T) {
	given := serverOptions(t)
	trusted := writeCertificate(t, given.CertDir)
	webhooks := controllerruntime.Webhooks(scheme.Scheme, webhook.Options{Host: given.Host}, setup)
	flags := pflag.NewFlagSet("program", pflag.ContinueOnError)
	webhooks.Flags(flags)
	if port, dir := flags.Lookup("webhook-port").DefValue, flags.Lookup("webhook-cert-path").DefValue; port != "9443" || dir != "" {
		t.Errorf("the defaults are port %s and folder %q", port, dir)
	}
	if err := flags.Parse([]string{"--webhook-port=many"}); err == nil {
		t.Error("a port that isn't a number is accepted")
	}
	if err := flags.Parse([]string{"--webhook-port", strconv.Itoa(given.Port), "--webhook-cert-path", given.CertDir}); err != nil {
		t.Fatal(err)
	}
	m := newManager(t, webhooks)
	run(t, m)
	eventually(t, func() error { return probe(m, "/readyz") })
	if _, err := review(t, given, trusted, "/validate--v1-pod", &corev1.Pod{}); err != nil {
		t.Error(err)
	}
}

// TestWebhooksWithoutCertificate: the reason is in /healthz, and the server can be started again.
func TestWebhooksWithoutCertificate(t *testing.T) {
	options := serverOptions(t)
	m := newManager(t, controllerruntime.Webhooks(scheme.Scheme, options, setup))
	run(t, m)
	eventually(t, func() error {
		err := probe(m, "/healthz")
		if err == nil || !strings.Contains(err.Error(), "[-]webhooks: Run has failed: webhook server: open "+filepath.Join(options.CertDir, "tls.crt")) {
			return fmt.Errorf("got %v, want the missing certificate", err)
		}
		return nil
	})
	if err := probe(m, "/readyz"); err == nil {
		t.Error("it is ready without a webhook server")
	}
	trusted := writeCertificate(t, options.CertDir)
	for range 2 {
		if err := m.Start("webhooks"); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error { return errors.Join(probe(m, "/readyz"), probe(m, "/healthz")) })
		if _, err := review(t, options, trusted, "/validate--v1-pod", &corev1.Pod{}); err != nil {
			t.Error(err)
		}
		if err := m.Stop(t.Context(), "webhooks"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWebhooksOfBadOptions(t *testing.T) {
	failing := func(ctrlmanager.Manager) error { return errors.New("no kind is registered for Team") }
	for name, test := range map[string]struct {
		webhooks manager.Descriptor
		want     string
	}{
		"all at once": {
			controllerruntime.Webhooks(nil, webhook.Options{WebhookMux: http.NewServeMux()}, setup, nil),
			"controller webhooks: New: the scheme is nil; make one with the kinds of the webhooks\n" +
				"the WebhookMux is set; register handlers in a setup, with mgr.GetWebhookServer().Register\n" +
				"setup 2 of 2 is nil",
		},
		"setup fails": {
			controllerruntime.Webhooks(scheme.Scheme, webhook.Options{}, setup, failing),
			"controller webhooks: New: setup 2 of 2: no kind is registered for Team",
		},
	} {
		if err := newManager(t, test.webhooks).Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%s: Run() = %v, want %s", name, err, test.want)
		}
	}
}
