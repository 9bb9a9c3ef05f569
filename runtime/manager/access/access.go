// SPDX-License-Identifier: Apache-2.0

// Package access decides about requests to a process as the API server would: who sends one, by a
// TokenReview of its bearer token, and whether that user may, by a SubjectAccessReview of the
// request's method and path. It protects a manager's /metrics, for example:
//
//	reviews, err := access.New(config)
//	options.AuthorizeMetrics = reviews.Authorize
//
// The rule is that of controller-runtime's filter WithAuthenticationAndAuthorization. The process
// needs the rights of the ClusterRole system:auth-delegator, to create both reviews. A client needs
// the verb get for the nonResourceURL /metrics.
//
// # Answers kept
//
// A token's user is kept for a minute, also that it has none; a right for 5 minutes, and a refusal
// for 30 s. So a token or a right that was taken away works for as long. Each kind keeps the 4,096
// questions asked last. A failed review is not kept.
//
// # Goroutines
//
// This package starts none. The goroutine of the first request that needs a review sends it;
// requests that need the same review wait for it, for up to 10 s.
package access

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	keepUser    = time.Minute
	keepRight   = 5 * time.Minute
	keepRefusal = 30 * time.Second
)

// Reviews asks an API server about requests. Make it with [New]. Any goroutine may call its
// methods.
type Reviews struct {
	// set once at construction
	client reviewer
	users  *answers[*authenticationv1.UserInfo] // nil: not authenticated
	rights *answers[bool]
}

// New returns Reviews by the API server of config. It sends no request. The error says why config
// makes no client.
func New(config *rest.Config) (*Reviews, error) {
	if config == nil {
		return nil, errors.New("access.New: config is nil; get one from clientcmd or rest.InClusterConfig")
	}
	client, err := newReviewer(config)
	if err != nil {
		return nil, fmt.Errorf("access.New: %w", err)
	}
	return &Reviews{
		client: client,
		users:  newAnswers(func(*authenticationv1.UserInfo) time.Duration { return keepUser }),
		rights: newAnswers(func(allowed bool) time.Duration {
			if allowed {
				return keepRight
			}
			return keepRefusal
		}),
	}, nil
}

// Authorize returns nil if the sender of req may send it. Otherwise the error is an API server's:
// apierrors.IsUnauthorized without a known bearer token, IsForbidden without the right, and
// IsInternalError if a review failed; the log has the reason.
func (r *Reviews) Authorize(req *http.Request) error {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); token == "" || !strings.EqualFold(scheme, "Bearer") {
		return apierrors.NewUnauthorized("the request has no bearer token")
	}
	ctx := req.Context()
	user, err := r.users.get(ctx, token, func(ctx context.Context) (*authenticationv1.UserInfo, error) {
		return r.client.userOf(ctx, token)
	})
	switch {
	case err != nil:
		return failed(ctx, "TokenReview", err)
	case user == nil:
		return apierrors.NewUnauthorized("the API server doesn't know the bearer token")
	}
	spec := specOf(user, strings.ToLower(req.Method), req.URL.Path)
	question, err := json.Marshal(spec)
	if err != nil {
		return failed(ctx, "SubjectAccessReview", err)
	}
	allowed, err := r.rights.get(ctx, string(question), func(ctx context.Context) (bool, error) {
		return r.client.isAllowed(ctx, spec)
	})
	switch {
	case err != nil:
		return failed(ctx, "SubjectAccessReview", err)
	case !allowed:
		return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("user %q cannot %s path %q", user.Username, spec.NonResourceAttributes.Verb, req.URL.Path))
	}
	return nil
}

// failed logs err, which is not for strangers.
func failed(ctx context.Context, review string, err error) error {
	klog.FromContext(ctx).Error(err, "A request is refused because its review failed", "review", review)
	return apierrors.NewInternalError(fmt.Errorf("the %s failed; see the log of this process", review))
}

func specOf(user *authenticationv1.UserInfo, verb, path string) authorizationv1.SubjectAccessReviewSpec {
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: slices.Clone(user.Groups),
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: verb, Path: path},
	}
	for key, values := range user.Extra {
		if spec.Extra == nil {
			spec.Extra = map[string]authorizationv1.ExtraValue{}
		}
		spec.Extra[key] = authorizationv1.ExtraValue(values)
	}
	return spec
}

// digest returns a key of fixed size from which the question, and a token in it, can't be read.
func digest(question string) [sha256.Size]byte { return sha256.Sum256([]byte(question)) }
