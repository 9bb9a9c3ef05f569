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
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// The two engines.
const (
	theirs = "client-go"
	ours   = "informer-gen"
)

// TestCertificates issues a self-signed CA and a certificate by this CA, changes the certificate,
// and deletes its Secret. In the end the API has the same objects with both engines, except for
// keys, times and the number of issuances. Nothing orders the watches of Certificates and Secrets:
// if cert-manager sees a Certificate's new status before its Secret, it issues once more.
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
		t.Errorf("at the end the API has with %s\n%s\nand with %s\n%s", theirs, states[theirs], ours, states[ours])
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

// startControllers runs the controllers in a child process until the test ends.
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
	issued := func(name string) {
		t.Helper()
		poll.Until(t, func() error {
			c, err := certificates.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			return notIssued(c)
		})
	}
	create("leaf", "by-ca", false) // its issuer comes later
	createIssuer("self", certmanagerv1.IssuerConfig{SelfSigned: &certmanagerv1.SelfSignedIssuer{}})
	createIssuer("by-ca", certmanagerv1.IssuerConfig{CA: &certmanagerv1.CAIssuer{SecretName: "ca"}})
	create("ca", "self", true)
	issued("ca")
	issued("leaf")
	patch := []byte(`{"spec":{"dnsNames":["leaf.example.com"]}}`)
	if _, err := certificates.Patch(t.Context(), "leaf", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	issued("leaf")
	if err := core.CoreV1().Secrets("default").Delete(t.Context(), "leaf", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, func() (err error) {
		endState, err = stateOf(t.Context(), client, core)
		return err
	})
	return endState
}

// notIssued returns nil if c's present spec is issued, and the reason otherwise.
func notIssued(c *certmanagerv1.Certificate) error {
	s := c.Status
	if len(s.Conditions) != 1 || s.Revision == nil || s.NextPrivateKeySecretName != nil ||
		s.Conditions[0].Type != certmanagerv1.CertificateConditionReady || s.Conditions[0].Status != cmmeta.ConditionTrue ||
		s.Conditions[0].ObservedGeneration != c.Generation {
		return fmt.Errorf("the status of %s, generation %d, is %+v", c.Name, c.Generation, s)
	}
	return nil
}

// stateOf returns the API's objects as text. It returns an error while there is work to do.
func stateOf(ctx context.Context, client clientset.Interface, core kubernetes.Interface) (state string, err error) {
	everything := metav1.ListOptions{}
	secrets, err := core.CoreV1().Secrets("default").List(ctx, everything)
	if err != nil {
		return "", err
	}
	issuers, err := client.CertmanagerV1().Issuers("default").List(ctx, everything)
	if err != nil {
		return "", err
	}
	certificates, err := client.CertmanagerV1().Certificates("default").List(ctx, everything)
	if err != nil {
		return "", err
	}
	requests, err := client.CertmanagerV1().CertificateRequests("default").List(ctx, everything)
	if err != nil {
		return "", err
	}

	var text strings.Builder
	var certificateNames, secretNames, requestNames, lastRequests []string
	for _, i := range issuers.Items {
		write(&text, "issuer", i.Name, i.Status.Conditions[0].Status, i.Status.Conditions[0].Reason)
	}
	certificateOf := map[string]string{} // by the name of its last request
	for _, c := range certificates.Items {
		if err := notIssued(&c); err != nil {
			return "", err
		}
		last := fmt.Sprintf("%s-%d", c.Name, *c.Status.Revision)
		certificateOf[last] = c.Name
		certificateNames, lastRequests = append(certificateNames, c.Name), append(lastRequests, last)
		write(&text, "certificate", c.Name, c.Spec, c.Status.Conditions[0].Reason, c.Status.FailedIssuanceAttempts)
	}
	for _, r := range requests.Items {
		requestNames = append(requestNames, r.Name)
		certificate := certificateOf[r.Name]
		revision := r.Annotations[certmanagerv1.CertificateRequestRevisionAnnotationKey]
		var conditions []string
		for _, c := range r.Status.Conditions {
			conditions = append(conditions, fmt.Sprint(c.Type, c.Status, c.Reason))
		}
		slices.Sort(conditions)
		write(&text, "request of", certificate, r.Name == certificate+"-"+revision, conditions)
	}
	for _, s := range secrets.Items {
		secretNames = append(secretNames, s.Name)
		write(&text, "secret", s.Name, s.Type == corev1.SecretTypeTLS, slices.Sorted(maps.Keys(s.Data)), s.Annotations)
	}

	// Each certificate keeps its last request.
	slices.Sort(requestNames)
	slices.Sort(lastRequests)
	if !slices.Equal(requestNames, lastRequests) {
		return "", fmt.Errorf("the requests are %q, want %q", requestNames, lastRequests)
	}
	if !slices.Equal(secretNames, certificateNames) {
		return "", fmt.Errorf("the Secrets are %q, want %q", secretNames, certificateNames)
	}
	return text.String(), nil
}

func write(text *strings.Builder, kind, name string, parts ...any) {
	out, err := json.Marshal(parts)
	if err != nil {
		panic(err) // parts are API types and strings
	}
	fmt.Fprintf(text, "%s %s %s\n", kind, name, out)
}
