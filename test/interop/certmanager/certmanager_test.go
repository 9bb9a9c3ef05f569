// SPDX-License-Identifier: Apache-2.0

package certmanager

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	clientset "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// The two engines.
const (
	theirs = "client-go"
	ours   = "informer-gen"
)

const patience = 2 * time.Minute

// TestCertificates has a CA signed by itself, and a certificate by that CA, which is then changed,
// and whose Secret is lost. At the end, the API has the same with both engines, but for keys and
// times.
func TestCertificates(t *testing.T) {
	crds := definitions(t)
	states := map[string]string{}
	for _, engine := range []string{theirs, ours} {
		t.Run(engine, func(t *testing.T) {
			server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, CRDs: crds})
			startControllers(t, server.URL(), engine)
			states[engine] = issue(t, server)
		})
	}
	if states[theirs] != states[ours] && !t.Failed() {
		t.Errorf("with %s the API has at the end\n%s\nand with %s\n%s", theirs, states[theirs], ours, states[ours])
	}
}

// definitions returns the CRDs of cert-manager's module.
func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	crds, err := devserver.ReadCRDs(os.DirFS(strings.TrimSpace(string(out))+"/deploy"), "crds")
	if err != nil {
		t.Fatal(err)
	}
	return crds
}

// startControllers runs the controllers in a process of their own until the test ends.
func startControllers(t *testing.T, server, engine string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), serverVariable+"="+server, engineVariable+"="+engine)
	var log strings.Builder
	child.Stdout, child.Stderr = &log, &log
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // the child ends
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the controllers have logged\n%s", log.String())
		}
	})
}

func issue(t *testing.T, server *devserver.Server) (endState string) {
	client, err := clientset.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	core, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	issuers, certificates := client.CertmanagerV1().Issuers("default"), client.CertmanagerV1().Certificates("default")
	createIssuer := func(name string, config certmanagerv1.IssuerConfig) {
		t.Helper()
		i := &certmanagerv1.Issuer{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: certmanagerv1.IssuerSpec{IssuerConfig: config}}
		if _, err := issuers.Create(t.Context(), i, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create := func(name, issuer string, isCA bool) {
		t.Helper()
		c := &certmanagerv1.Certificate{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: certmanagerv1.CertificateSpec{
			CommonName: name, IsCA: isCA, SecretName: name, IssuerRef: cmmeta.IssuerReference{Name: issuer},
			PrivateKey: &certmanagerv1.CertificatePrivateKey{Algorithm: certmanagerv1.ECDSAKeyAlgorithm, RotationPolicy: certmanagerv1.RotationPolicyAlways},
		}}
		if _, err := certificates.Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	issued := func(name string, revision int) {
		t.Helper()
		until(t, fmt.Sprintf("certificate %s, revision %d", name, revision), func(ctx context.Context) string {
			c, err := certificates.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			ready := slices.ContainsFunc(c.Status.Conditions, func(c certmanagerv1.CertificateCondition) bool {
				return c.Type == certmanagerv1.CertificateConditionReady && c.Status == cmmeta.ConditionTrue
			})
			if !ready || len(c.Status.Conditions) != 1 || c.Status.Revision == nil || *c.Status.Revision != revision || c.Status.NextPrivateKeySecretName != nil {
				return fmt.Sprintf("its status is %+v", c.Status)
			}
			return ""
		})
	}
	create("leaf", "by-ca", false) // its issuer comes later
	createIssuer("self", certmanagerv1.IssuerConfig{SelfSigned: &certmanagerv1.SelfSignedIssuer{}})
	createIssuer("by-ca", certmanagerv1.IssuerConfig{CA: &certmanagerv1.CAIssuer{SecretName: "ca"}})
	create("ca", "self", true)
	issued("ca", 1)
	issued("leaf", 1)
	patch := []byte(`{"spec":{"dnsNames":["leaf.example.com"]}}`)
	if _, err := certificates.Patch(t.Context(), "leaf", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	issued("leaf", 2)
	if err := core.CoreV1().Secrets("default").Delete(t.Context(), "leaf", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	issued("leaf", 3)
	// Of each certificate, the last request is kept.
	until(t, "requests ca-1 and leaf-3 alone", func(ctx context.Context) string {
		requests, err := client.CertmanagerV1().CertificateRequests("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, r := range requests.Items {
			names = append(names, r.Name)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"ca-1", "leaf-3"}) {
			return fmt.Sprintf("there are %q", names)
		}
		return ""
	})

	var text strings.Builder
	write := func(kind, name string, parts ...any) {
		out, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s %s %s\n", kind, name, out)
	}
	allIssuers, err := issuers.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range allIssuers.Items {
		write("issuer", i.Name, i.Status.Conditions[0].Status, i.Status.Conditions[0].Reason)
	}
	allCertificates, err := certificates.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range allCertificates.Items {
		write("certificate", c.Name, c.Spec, c.Status.Revision, c.Status.Conditions[0].Reason, c.Status.FailedIssuanceAttempts)
	}
	requests, err := client.CertmanagerV1().CertificateRequests("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests.Items {
		var conditions []string
		for _, c := range r.Status.Conditions {
			conditions = append(conditions, fmt.Sprint(c.Type, c.Status, c.Reason))
		}
		slices.Sort(conditions)
		write("request", r.Name, r.Annotations[certmanagerv1.CertificateRequestRevisionAnnotationKey], conditions)
	}
	secrets, err := core.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range secrets.Items {
		write("secret", s.Name, s.Type == corev1.SecretTypeTLS, slices.Sorted(maps.Keys(s.Data)), s.Annotations)
	}
	return text.String()
}

// until waits until f reports no problem.
func until(t *testing.T, what string, f func(ctx context.Context) (problem string)) {
	t.Helper()
	// What an API server has can only be polled.
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		problem := f(t.Context())
		if problem == "" {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("%s: %s", what, problem)
		}
	}
}
