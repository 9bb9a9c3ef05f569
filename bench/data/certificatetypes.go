// SPDX-License-Identifier: Apache-2.0

package data

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// certificatesVersion is the version of cert-manager's Certificate. The Go types here copy the
// fields of its CRD, because cert-manager's module requires the SDKs of half a dozen cloud
// providers.
var certificatesVersion = schema.GroupVersion{Group: "cert-manager.io", Version: "v1"}

// Certificate is cert-manager's.
type Certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              certificateSpec   `json:"spec"`
	Status            certificateStatus `json:"status"`
}

// CertificateList is a list of Certificates.
type CertificateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Certificate `json:"items"`
}

type certificateSpec struct {
	Subject                 *x509Subject         `json:"subject,omitempty"`
	LiteralSubject          string               `json:"literalSubject,omitempty"`
	CommonName              string               `json:"commonName,omitempty"`
	Duration                *metav1.Duration     `json:"duration,omitempty"`
	RenewBefore             *metav1.Duration     `json:"renewBefore,omitempty"`
	RenewBeforePercentage   *int32               `json:"renewBeforePercentage,omitempty"`
	DNSNames                []string             `json:"dnsNames,omitempty"`
	IPAddresses             []string             `json:"ipAddresses,omitempty"`
	URIs                    []string             `json:"uris,omitempty"`
	OtherNames              []otherName          `json:"otherNames,omitempty"`
	EmailAddresses          []string             `json:"emailAddresses,omitempty"`
	SecretName              string               `json:"secretName"`
	SecretTemplate          *secretTemplate      `json:"secretTemplate,omitempty"`
	Keystores               *keystores           `json:"keystores,omitempty"`
	IssuerRef               issuerReference      `json:"issuerRef"`
	IsCA                    bool                 `json:"isCA,omitempty"`
	Usages                  []keyUsage           `json:"usages,omitempty"`
	PrivateKey              *privateKey          `json:"privateKey,omitempty"`
	SignatureAlgorithm      string               `json:"signatureAlgorithm,omitempty"`
	EncodeUsagesInRequest   *bool                `json:"encodeUsagesInRequest,omitempty"`
	RevisionHistoryLimit    *int32               `json:"revisionHistoryLimit,omitempty"`
	AdditionalOutputFormats []outputFormat       `json:"additionalOutputFormats,omitempty"`
	NameConstraints         *certificateNameRule `json:"nameConstraints,omitempty"`
}

type keyUsage string

type x509Subject struct {
	Organizations       []string `json:"organizations,omitempty"`
	Countries           []string `json:"countries,omitempty"`
	OrganizationalUnits []string `json:"organizationalUnits,omitempty"`
	Localities          []string `json:"localities,omitempty"`
	Provinces           []string `json:"provinces,omitempty"`
	StreetAddresses     []string `json:"streetAddresses,omitempty"`
	PostalCodes         []string `json:"postalCodes,omitempty"`
	SerialNumber        string   `json:"serialNumber,omitempty"`
}

type otherName struct {
	OID       string `json:"oid,omitempty"`
	UTF8Value string `json:"utf8Value,omitempty"`
}

type secretTemplate struct {
	Annotations map[string]string `json:"annotations,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

type keystores struct {
	JKS    *keystore `json:"jks,omitempty"`
	PKCS12 *keystore `json:"pkcs12,omitempty"`
}

type keystore struct {
	Create            bool              `json:"create"`
	Alias             *string           `json:"alias,omitempty"`
	Profile           string            `json:"profile,omitempty"`
	PasswordSecretRef secretKeySelector `json:"passwordSecretRef,omitempty"`
	Password          *string           `json:"password,omitempty"`
}

type secretKeySelector struct {
	Name string `json:"name"`
	Key  string `json:"key,omitempty"`
}

type issuerReference struct {
	Name  string `json:"name"`
	Kind  string `json:"kind,omitempty"`
	Group string `json:"group,omitempty"`
}

type privateKey struct {
	RotationPolicy string `json:"rotationPolicy,omitempty"`
	Encoding       string `json:"encoding,omitempty"`
	Algorithm      string `json:"algorithm,omitempty"`
	Size           int    `json:"size,omitempty"`
}

type outputFormat struct {
	Type string `json:"type"`
}

type certificateNameRule struct {
	Critical  bool       `json:"critical,omitempty"`
	Permitted *nameItems `json:"permitted,omitempty"`
	Excluded  *nameItems `json:"excluded,omitempty"`
}

type nameItems struct {
	DNSDomains     []string `json:"dnsDomains,omitempty"`
	IPRanges       []string `json:"ipRanges,omitempty"`
	EmailAddresses []string `json:"emailAddresses,omitempty"`
	URIDomains     []string `json:"uriDomains,omitempty"`
}

type certificateStatus struct {
	Conditions               []certificateCondition `json:"conditions,omitempty"`
	LastFailureTime          *metav1.Time           `json:"lastFailureTime,omitempty"`
	NotBefore                *metav1.Time           `json:"notBefore,omitempty"`
	NotAfter                 *metav1.Time           `json:"notAfter,omitempty"`
	RenewalTime              *metav1.Time           `json:"renewalTime,omitempty"`
	Revision                 *int                   `json:"revision,omitempty"`
	NextPrivateKeySecretName *string                `json:"nextPrivateKeySecretName,omitempty"`
	FailedIssuanceAttempts   *int                   `json:"failedIssuanceAttempts,omitempty"`
}

type certificateCondition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	LastTransitionTime *metav1.Time           `json:"lastTransitionTime,omitempty"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
	ObservedGeneration int64                  `json:"observedGeneration,omitempty"`
}

// DeepCopyObject implements runtime.Object. No side copies cached objects.
func (c *Certificate) DeepCopyObject() runtime.Object { return copyByJSON(c, &Certificate{}) }

// DeepCopyObject implements runtime.Object.
func (c *CertificateList) DeepCopyObject() runtime.Object { return copyByJSON(c, &CertificateList{}) }

func copyByJSON[T runtime.Object](from, to T) T {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err) // decoded objects can be encoded
	}
	return to
}
