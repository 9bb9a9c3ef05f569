// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewCertificate returns the i-th of n Certificates as cert-manager leaves them: issued by one of 8
// issuers, made by Helm or for an Ingress, ready. Its name, UID, resourceVersion, DNS names,
// secret, times and revision are its own.
func NewCertificate(i, n int) *Certificate {
	r := rand.New(rand.NewPCG(seedOfCertificates, uint64(i)))
	team := teams[r.IntN(len(teams))]
	name := fmt.Sprintf("%s-%05d-tls", team, i)
	host := fmt.Sprintf("%s-%05d.apps.example.com", team, i)
	notBefore := epoch.Add(time.Duration(r.IntN(90*24*3600)) * time.Second)
	issuer := r.IntN(8)
	c := &Certificate{
		TypeMeta: metav1.TypeMeta{Kind: "Certificate", APIVersion: certificatesVersion.String()},
		ObjectMeta: crMeta(r, i, n, name, map[string]string{
			"app.kubernetes.io/instance": team, "app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "app-2." + strconv.Itoa(issuer) + ".0",
		}, certificateWriters...),
		Spec: certificateSpec{
			Subject:              &x509Subject{Organizations: []string{"Example Ltd"}, OrganizationalUnits: []string{team}},
			CommonName:           host,
			Duration:             &metav1.Duration{Duration: 2160 * time.Hour},
			RenewBefore:          &metav1.Duration{Duration: 360 * time.Hour},
			DNSNames:             []string{host, "www." + host},
			SecretName:           name,
			IssuerRef:            issuerReference{Name: fmt.Sprintf("issuer-%d", issuer), Kind: "ClusterIssuer", Group: "cert-manager.io"},
			Usages:               []keyUsage{"digital signature", "key encipherment", "server auth"},
			PrivateKey:           &privateKey{Algorithm: "ECDSA", Size: 256, RotationPolicy: "Always"},
			SecretTemplate:       &secretTemplate{Labels: map[string]string{"team": team}},
			RevisionHistoryLimit: new(int32(1)),
		},
		Status: certificateStatus{
			Conditions: []certificateCondition{{
				Type: "Ready", Status: metav1.ConditionTrue, LastTransitionTime: new(metav1.NewTime(notBefore.Add(time.Hour + 7*time.Second))),
				Reason: "Ready", Message: "Certificate is up to date and has not expired", ObservedGeneration: 1,
			}},
			NotBefore:   new(metav1.NewTime(notBefore)),
			NotAfter:    new(metav1.NewTime(notBefore.Add(2160 * time.Hour))),
			RenewalTime: new(metav1.NewTime(notBefore.Add(1800 * time.Hour))),
			Revision:    new(1 + r.IntN(9)),
		},
	}
	c.Status.Conditions[0].ObservedGeneration = c.Generation
	return c
}

var certificateWriters = []fieldsWriter{
	{name: "helm", version: "cert-manager.io/v1", operation: metav1.ManagedFieldsOperationUpdate,
		fields: `{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:helm.sh/chart":{}}},` +
			`"f:spec":{".":{},"f:commonName":{},"f:dnsNames":{},"f:duration":{},"f:issuerRef":{".":{},"f:group":{},"f:kind":{},"f:name":{}},` +
			`"f:privateKey":{".":{},"f:algorithm":{},"f:rotationPolicy":{},"f:size":{}},"f:renewBefore":{},"f:revisionHistoryLimit":{},` +
			`"f:secretName":{},"f:secretTemplate":{".":{},"f:labels":{".":{},"f:team":{}}},` +
			`"f:subject":{".":{},"f:organizationalUnits":{},"f:organizations":{}},"f:usages":{}}}`},
	{name: "cert-manager-certificates-readiness", version: "cert-manager.io/v1", subresource: "status", operation: metav1.ManagedFieldsOperationUpdate,
		fields: `{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},` +
			`"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:notAfter":{},"f:notBefore":{},"f:renewalTime":{},"f:revision":{}}}`},
}
