// SPDX-License-Identifier: Apache-2.0

// Package access decides what the callers of a relay may read, as the API server behind it would.
//
//	request ─▶ Handler: credentials ─▶ the request's context ─▶ Authorize ─▶ an answer or an error
//	                                                              │  ▲
//	                                                              ▼  │ kept for seconds
//	                                                       reviews by the API server
//
// The errors are what clients get: 401 if a caller isn't known, 403 if it may not, with the API
// server's words, 429 if too many strangers ask, and 503 if the API server can't be asked. Neither
// is guessed from the other: a client that gets 401 may throw its token away.
//
// # Strangers
//
// A token that was good before, and a right that was granted before, are reviewed beside all
// others: 32 reviews of each of the two kinds are under way at a time, and more wait, for 10
// seconds at most. A stranger is a caller of whom nothing good is known, and so is one who asks
// for something new. Strangers have 32 reviews of each kind of their own and a queue, and 512 of
// them are in both at most. From one address 100 may be refused, and then 10 a second; who waits
// counts as refused. Beyond these limits strangers get 429 with Retry-After, and the API server
// sees nothing of them. An address is an IPv4 address or an IPv6 network of 64 bits. Good answers
// are kept for 65,536 questions. Refusals have a cache of 4,096 of their own.
//
// # Goroutines
//
// This package has none. A review is sent by the goroutine of the first request that needs it;
// others that need the same one wait for it.
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

// Access authenticates and authorizes callers. [New] makes one. Any number of goroutines may use
// it.
type Access struct {
	// set once at construction
	decide   decider
	local    bool // only callers that use a name of this machine are answered
	counters counters
}

// decider returns what a caller gets: nil, or the error that it is answered with.
type decider func(ctx context.Context, c credentials, a serve.Attributes) error

// New returns what the configuration asks for. It sends no request. It fails if upstream, which the
// modes with reviews need, can't be used.
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
		// Whoever asks, it is not the relay.
		upstream = rest.AnonymousClientConfig(upstream)
	}
	reviews, err := newReviews(upstream, c, a.counters)
	if err != nil {
		return nil, fmt.Errorf("reviewing callers: %w", err)
	}
	a.decide = reviews.ofSelf
	if c.Mode == configfile.TokenReview {
		a.decide = reviews.ofToken
	}
	return a, nil
}

// Authorize returns nil if the caller of a request may do what a describes, and else the answer, an
// *apierrors.StatusError. ctx is that of a request that has come through [Access.Handler].
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
// Requests on behalf of another user are refused: they are the API server's to answer. So are
// requests that don't pass [LocalOnly] in the mode None.
func (a *Access) Handler(next http.Handler) http.Handler {
	if a.local {
		next = LocalOnly(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for name := range req.Header {
			if strings.HasPrefix(name, "Impersonate-") {
				Refuse(w, impersonates())
				return
			}
		}
		next.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), credentialsKey{}, credentialsOf(req))))
	})
}

type credentialsKey struct{}

// credentials are what a caller shows of itself. The zero value is that of a caller who shows
// nothing.
type credentials struct {
	token   string
	user    authenticationv1.UserInfo // of a client certificate, which the server has verified
	uris    []string                  // of the certificate
	expires time.Time                 // of the certificate; zero: never
	from    netip.Addr                // zero: unknown
}

func credentialsOf(req *http.Request) (c credentials) {
	c.from = addressOf(req)
	if req.TLS != nil && len(req.TLS.VerifiedChains) > 0 {
		cert := req.TLS.PeerCertificates[0]
		c.expires = cert.NotAfter
		c.user.Username = cert.Subject.CommonName
		// as API servers add it
		c.user.Groups = append(c.user.Groups, cert.Subject.Organization...)
		c.user.Groups = append(c.user.Groups, "system:authenticated")
		for _, uri := range cert.URIs {
			c.uris = append(c.uris, uri.String())
		}
		if c.user.Username != "" { // else it says nothing to an API server, and a token may
			return c
		}
	}
	if scheme, token, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		c.token = strings.TrimSpace(token)
	}
	return c
}

// digest stands for a question where its answer is kept: of fixed size, and without its token.
func digest(question string) string {
	sum := sha256.Sum256([]byte(question))
	return string(sum[:])
}
