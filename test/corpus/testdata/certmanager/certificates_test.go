// SPDX-License-Identifier: Apache-2.0

package user

import (
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	listers "corpus.example/user/generated/listers/certmanager/v1"
)

func certificate(name, secret, issuer string) *certmanagerv1.Certificate {
	return &certmanagerv1.Certificate{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certmanagerv1.CertificateSpec{
			SecretName: secret,
			DNSNames:   []string{name + ".example.com"},
			IssuerRef:  cmmeta.IssuerReference{Kind: "ClusterIssuer", Name: issuer},
		},
	}
}

func TestCertificates(t *testing.T) {
	config := devserver(t)
	shop := resource(t, config, listers.CertificateResource(), "shop")
	create(t, shop, untyped(t, listers.CertificateResource(), certificate("blue", "blue-tls", "letsencrypt")))

	factory, answers := newFactory(t, config)
	certificates := factory.Certmanager().V1().Certificates()
	lister := certificates.Lister()
	told := record(t, certificates.Informer(), func(*certmanagerv1.Certificate) bool { return true })
	start(t, factory)

	green := create(t, shop, untyped(t, listers.CertificateResource(), certificate("green", "green-tls", "letsencrypt")))
	await(t, certificates.Informer(), green)
	issuer := listers.CertificateByIssuerKey{Kind: "ClusterIssuer", Name: "letsencrypt"}
	wantNames(t, "certificates of the issuer", lister.ListByIssuer(issuer), "blue", "green")
	wantNames(t, "certificates of the issuer in shop", lister.Certificates("shop").ListByIssuer(issuer), "blue", "green")
	wantNames(t, "certificates of an Issuer of the same name", lister.ListByIssuer(listers.CertificateByIssuerKey{Kind: "Issuer", Name: "letsencrypt"}))
	wantNames(t, "certificates in green-tls", lister.ListBySecret("green-tls"), "green")

	green.Object["spec"].(map[string]any)["secretName"] = "lime-tls"
	await(t, certificates.Informer(), update(t, shop, green))
	wantNames(t, "certificates in green-tls after the update", lister.ListBySecret("green-tls"))
	if c, err := lister.Certificates("shop").Get("green"); err != nil || c.Spec.SecretName != "lime-tls" || c.Spec.DNSNames[0] != "green.example.com" {
		t.Errorf(`Get("green") = %v, %v; want the secret lime-tls and the name green.example.com`, c, err)
	}
	remove(t, shop, "blue")
	told.want(t, "add blue", "add green", "update green", "delete blue")
	if _, err := lister.Certificates("shop").Get("blue"); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a deleted certificate: got error %v, want NotFound", err)
	}
	answers.wantFormat(t, "application/json")
}
