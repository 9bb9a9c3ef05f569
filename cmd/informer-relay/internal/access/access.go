// SPDX-License-Identifier: Apache-2.0

// Package access decides which reads to allow a relay's callers, as the API server behind it would.
//
//	request ─▶ Handler: credentials ─▶ the request's context ─▶ Authorize ─▶ an answer or an error
//	                                                              │  ▲
//	                                                              ▼  │ kept for seconds
//	                                                       reviews by the API server
//
// Clients get 401 if the caller isn't known, 403 with the API server's words if it may not read,
// 429 if too many strangers ask, and 503 if the API server can't be asked. None of these is a
// guess: a client that gets 401 may throw its token away.
//
// # Strangers
//
// A stranger is a caller about whom nothing good is known, or one who asks for something new. A
// token that was good before, and a right that was granted before, have reviews apart from
// strangers': 32 of each of the two kinds run at a time, and others wait for up to 10 seconds.
// Strangers have 32 reviews of each kind of their own and a queue; running and queued, there are at
// most 512. One address may cause 100 refusals, and then 10 a second; a waiting question counts as
// a refusal. Beyond these limits strangers get 429, and the API server isn't asked. An address is
// an IPv4 address or a /64 of IPv6. Good answers are kept for 65,536 questions; refusals have a
// cache of 4,096 of their own.
//
// # Goroutines
//
// This package starts none. The goroutine of the first request that needs a review sends it;
// requests that need the same review wait for it.
package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/serve"
)

// Access authenticates and authorizes callers. [New] makes one. It is safe for concurrent use.
type Access struct {
	// set once at construction
	decide   decider
	local    bool // callers must use a name of this machine
	counters counters
}

// decider returns nil if the caller may make the request a, or else the error for the caller.
type decider func(ctx context.Context, c credentials, a serve.Attributes) error

// New returns an Access for the configured mode. It sends no request. It fails if upstream can't be
// used.
func New(c configfile.Access, upstream *rest.Config) (*Access, error) {
	a := &Access{counters: newCounters()}
	switch c.Mode {
	case configfile.None:
		a.local = true
		a.decide = func(context.Context, credentials, serve.Attributes) error { return nil }
		return a, nil
	case configfile.Certificates:
		a.decide = callers(c.Callers).decide
		return a, nil
	case configfile.SelfSubjectAccessReview:
		// The caller asks, not the relay.
		upstream = rest.AnonymousClientConfig(upstream)
	}
	reviews, err := newReviews(upstream, c, a.counters)
	if err != nil {
		return nil, fmt.Errorf("reviewing callers: %w", err)
	}
	a.decide = reviews.decideBySelf
	if c.Mode == configfile.TokenReview {
		a.decide = reviews.decideByToken
	}
	return a, nil
}

// Authorize returns nil if the caller may make a request with these attributes, and the answer, an
// *apierrors.StatusError, otherwise. ctx must be the context of a request that passed
// [Access.Handler].
func (a *Access) Authorize(ctx context.Context, what serve.Attributes) error {
	c, _ := ctx.Value(credentialsKey{}).(credentials)
	err := unauthorized()
	if c.expires.IsZero() || time.Now().Before(c.expires) {
		err = a.decide(ctx, c, what)
	}
	a.counters.decisions.WithLabelValues(resultOf(err)).Inc()
	return err
}

// Handler returns a handler that calls next with the caller's credentials in the request's context.
// It refuses requests on behalf of another user, which only the API server can answer, and in the
// mode None requests that fail [LocalOnly].
func (a *Access) Handler(next http.Handler) http.Handler {
	if a.local {
		next = LocalOnly(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for name := range req.Header {
			if strings.HasPrefix(name, "Impersonate-") {
				Refuse(w, impersonationRefused())
				return
			}
		}
		next.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), credentialsKey{}, credentialsOf(req))))
	})
}

type credentialsKey struct{}

// credentials are a caller's proofs of identity; zero if it has none.
type credentials struct {
	token   string
	user    authenticationv1.UserInfo // of a verified client certificate
	uris    []string                  // of the certificate
	expires time.Time                 // of the certificate; zero: never
	remote  netip.Addr                // zero: unknown
}

func credentialsOf(req *http.Request) (c credentials) {
	c.remote = addressOf(req)
	if req.TLS != nil && len(req.TLS.VerifiedChains) > 0 {
		cert := req.TLS.PeerCertificates[0]
		c.expires = cert.NotAfter
		c.user.Username = cert.Subject.CommonName
		// as API servers do
		c.user.Groups = append(c.user.Groups, cert.Subject.Organization...)
		c.user.Groups = append(c.user.Groups, "system:authenticated")
		for _, uri := range cert.URIs {
			c.uris = append(c.uris, uri.String())
		}
		if c.user.Username != "" { // without a name, a token may say more to an API server
			return c
		}
	}
	if scheme, token, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		c.token = strings.TrimSpace(token)
	}
	return c
}

// digest returns the key under which the answer to a question is kept: of fixed size, and without
// the caller's token.
func digest(question string) string {
	sum := sha256.Sum256([]byte(question))
	return string(sum[:])
}
