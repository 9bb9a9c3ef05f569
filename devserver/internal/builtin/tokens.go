// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

const (
	issuer           = "https://kubernetes.default.svc" // and the audience of this API server
	defaultTokenLife = 3600                             // seconds
	leastTokenLife   = 600
)

// Tokens issues and checks tokens of service accounts: JSON web tokens that only this server can
// check, until it stops.
type Tokens struct {
	key [32]byte

	// Get reads a service account. It must be set before a token is issued or checked.
	Get func(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error)
}

var _ authenticator.Token = (*Tokens)(nil)

// NewTokens returns an issuer with a new key.
func NewTokens() *Tokens {
	t := &Tokens{}
	_, _ = rand.Read(t.key[:]) // never fails
	return t
}

type object struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

type claims struct {
	Issuer     string   `json:"iss"`
	Subject    string   `json:"sub"`
	Audience   []string `json:"aud"`
	Expires    int64    `json:"exp"`
	IssuedAt   int64    `json:"iat"`
	NotBefore  int64    `json:"nbf"`
	ID         string   `json:"jti"`
	Kubernetes struct {
		Namespace      string `json:"namespace"`
		ServiceAccount object `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

func encode(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

func (t *Tokens) signature(signed string) string {
	mac := hmac.New(sha256.New, t.key[:])
	mac.Write([]byte(signed))
	return encode(mac.Sum(nil))
}

func (t *Tokens) issue(account *corev1.ServiceAccount, audiences []string, life time.Duration) (string, time.Time, error) {
	now := time.Now()
	c := claims{
		Issuer: issuer, Subject: serviceaccount.MakeUsername(account.Namespace, account.Name), Audience: audiences,
		Expires: now.Add(life).Unix(), IssuedAt: now.Unix(), NotBefore: now.Unix(), ID: string(uuid.NewUUID()),
	}
	c.Kubernetes.Namespace, c.Kubernetes.ServiceAccount = account.Namespace, object{account.Name, account.UID}
	text, err := json.Marshal(c)
	signed := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(text)
	return signed + "." + t.signature(signed), time.Unix(c.Expires, 0), err
}

// AuthenticateToken returns the service account of a token. The token must be for
// one of the audiences of ctx, or for the API server if ctx has none.
func (t *Tokens) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	end := strings.LastIndexByte(token, '.')
	if end < 0 || !hmac.Equal([]byte(token[end+1:]), []byte(t.signature(token[:end]))) {
		return nil, false, errors.New("invalid bearer token")
	}
	_, body, _ := strings.Cut(token[:end], ".")
	text, err := base64.RawURLEncoding.DecodeString(body)
	var c claims
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return nil, false, fmt.Errorf("invalid bearer token: %w", err)
	}
	if time.Now().Unix() >= c.Expires {
		return nil, false, errors.New("invalid bearer token: service account token has expired")
	}
	wanted, ok := authenticator.AudiencesFrom(ctx)
	if !ok {
		wanted = authenticator.Audiences{issuer}
	}
	audiences := wanted.Intersect(c.Audience)
	if len(audiences) == 0 {
		return nil, false, fmt.Errorf("invalid bearer token: token audiences %q is invalid for the target audiences %q", c.Audience, wanted)
	}
	namespace, name := c.Kubernetes.Namespace, c.Kubernetes.ServiceAccount.Name
	account, err := t.Get(ctx, namespace, name)
	if err != nil || account.UID != c.Kubernetes.ServiceAccount.UID || account.DeletionTimestamp != nil {
		return nil, false, fmt.Errorf("invalid bearer token: service account %s/%s has been deleted", namespace, name)
	}
	info := serviceaccount.ServiceAccountInfo{Namespace: namespace, Name: name, UID: string(account.UID), CredentialID: "JTI=" + c.ID}
	return &authenticator.Response{User: info.UserInfo(), Audiences: audiences}, true, nil
}

// tokenStorage serves the subresource token of service accounts, which can only be created.
type tokenStorage struct{ tokens *Tokens }

var (
	_ rest.NamedCreater             = tokenStorage{}
	_ rest.GroupVersionKindProvider = tokenStorage{}
)

func (s tokenStorage) New() runtime.Object { return &authenticationv1.TokenRequest{} }
func (s tokenStorage) Destroy()            {}

func (s tokenStorage) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
}

func (s tokenStorage) Create(ctx context.Context, name string, obj runtime.Object, valid rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request := obj.(*authenticationv1.TokenRequest)
	namespace := genericapirequest.NamespaceValue(ctx)
	account, err := s.tokens.Get(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	request.Name, request.Namespace, request.CreationTimestamp = account.Name, account.Namespace, metav1.Now()
	if len(request.Spec.Audiences) == 0 {
		request.Spec.Audiences = []string{issuer}
	}
	setPointer(&request.Spec.ExpirationSeconds, defaultTokenLife)
	seconds := *request.Spec.ExpirationSeconds
	if seconds < leastTokenLife {
		return nil, apierrors.NewInvalid(s.GroupVersionKind(schema.GroupVersion{}).GroupKind(), "",
			field.ErrorList{field.Invalid(specPath.Child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes")})
	}
	if valid != nil {
		if err := valid(ctx, obj); err != nil {
			return nil, err
		}
	}
	if slices.Contains(options.DryRun, metav1.DryRunAll) {
		return request, nil
	}
	token, expires, err := s.tokens.issue(account, request.Spec.Audiences, time.Duration(seconds)*time.Second)
	request.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(expires)}
	return request, err
}
