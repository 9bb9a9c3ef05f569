// SPDX-License-Identifier: Apache-2.0

package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/serve"
)

const (
	// reviewTimeout bounds a review, including its wait for others.
	reviewTimeout = 10 * time.Second
	// maxAnswerBytes bounds the bytes read of an answer.
	maxAnswerBytes = 1 << 20
)

const (
	tokenReviews       = "/apis/authentication.k8s.io/v1/tokenreviews"
	selfSubjectReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	accessReviews      = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
	selfAccessReviews  = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
)

type reviews struct {
	// set once at construction
	http      *http.Client
	base      *url.URL
	audiences []string
	counters  counters
	users     *answers[*authenticationv1.UserInfo] // nil: not authenticated
	rights    *answers[decision]
}

type decision struct {
	authenticated bool // the API server knows the user
	allowed       bool
	user          string
	reason        string
}

func newReviews(upstream *rest.Config, c configfile.Access, counters counters) (*reviews, error) {
	base, _, err := rest.DefaultServerUrlFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("host %q: %w", upstream.Host, err)
	}
	client, err := rest.HTTPClientFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("transport to %s: %w", base.Redacted(), err)
	}
	failures := newFailures(counters)
	authenticated := func(u *authenticationv1.UserInfo) bool { return u != nil }
	allowed := func(d decision) bool { return d.allowed }
	return &reviews{
		http: client, base: base, audiences: c.Audiences, counters: counters,
		users:  newAnswers(policy[*authenticationv1.UserInfo]{authenticated, c.AllowedFor, c.DeniedFor}, failures.record),
		rights: newAnswers(policy[decision]{allowed, c.AllowedFor, c.DeniedFor}, failures.record),
	}, nil
}

// decideByToken is the decider of the mode TokenReview. It asks for the token's user, unless a
// client certificate names one, and then for the user's rights.
func (r *reviews) decideByToken(ctx context.Context, c credentials, a serve.Attributes) error {
	user := &c.user
	switch {
	case c.token != "":
		var err error
		user, err = r.users.get(ctx, digest(c.token), c.remote, func(ctx context.Context) (*authenticationv1.UserInfo, error) {
			return r.authenticate(ctx, c.token)
		})
		if err != nil {
			return reviewFailed(err)
		}
		if user == nil {
			return unauthorized()
		}
	case user.Username == "":
		return unauthorized()
	}
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: map[string]authorizationv1.ExtraValue{},
	}
	spec.ResourceAttributes, spec.NonResourceAttributes = reviewAttributes(a)
	for key, value := range user.Extra {
		spec.Extra[key] = authorizationv1.ExtraValue(value)
	}
	key, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	d, err := r.rights.get(ctx, digest(string(key)), c.remote, func(ctx context.Context) (decision, error) {
		answer, err := create(ctx, r, accessReviews, "", authorizationv1.SubjectAccessReview{
			TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"}, Spec: spec,
		})
		if err != nil {
			return decision{}, err
		}
		return decisionOf(user.Username, answer.Status)
	})
	return d.answer(a, err)
}

// authenticate returns the token's user, or nil if there is none.
func (r *reviews) authenticate(ctx context.Context, token string) (*authenticationv1.UserInfo, error) {
	answer, err := create(ctx, r, tokenReviews, "", authenticationv1.TokenReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "TokenReview"},
		Spec:     authenticationv1.TokenReviewSpec{Token: token, Audiences: r.audiences},
	})
	fits := func(audience string) bool { return slices.Contains(r.audiences, audience) }
	if err != nil || !answer.Status.Authenticated || len(r.audiences) > 0 && !slices.ContainsFunc(answer.Status.Audiences, fits) {
		return nil, err
	}
	return &answer.Status.User, nil
}

// decideBySelf is the decider of the mode SelfSubjectAccessReview: it asks with the caller's own
// token.
func (r *reviews) decideBySelf(ctx context.Context, c credentials, a serve.Attributes) error {
	if c.token == "" {
		return unauthorized()
	}
	var spec authorizationv1.SelfSubjectAccessReviewSpec
	spec.ResourceAttributes, spec.NonResourceAttributes = reviewAttributes(a)
	key, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	d, err := r.rights.get(ctx, digest(digest(c.token)+string(key)), c.remote, func(ctx context.Context) (decision, error) {
		answer, err := create(ctx, r, selfAccessReviews, c.token, authorizationv1.SelfSubjectAccessReview{
			TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"}, Spec: spec,
		})
		switch {
		case apierrors.IsUnauthorized(err):
			return decision{}, nil
		case err != nil:
			return decision{}, err
		}
		d, err := decisionOf("", answer.Status)
		if err == nil && !d.allowed {
			d.user, err = r.username(ctx, c.token)
		}
		return d, err
	})
	return d.answer(a, err)
}

func (r *reviews) username(ctx context.Context, token string) (string, error) {
	answer, err := create(ctx, r, selfSubjectReviews, token, authenticationv1.SelfSubjectReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectReview"},
	})
	return answer.Status.UserInfo.Username, err
}

var errUndecided = errors.New("the API server could not decide")

// decisionOf returns the decision in a review's status. A refusal because of an error isn't a
// decision: the API server's own answer to the request would be an error, too.
func decisionOf(user string, s authorizationv1.SubjectAccessReviewStatus) (decision, error) {
	if !s.Allowed && s.EvaluationError != "" {
		return decision{}, fmt.Errorf("%w: %s", errUndecided, s.EvaluationError)
	}
	return decision{authenticated: true, allowed: s.Allowed, user: user, reason: s.Reason}, nil
}

func (d decision) answer(a serve.Attributes, err error) error {
	switch {
	case err != nil:
		return reviewFailed(err)
	case !d.authenticated:
		return unauthorized()
	case !d.allowed:
		return forbidden(d.user, a, d.reason)
	}
	return nil
}

// create posts a review, and returns it with the API server's status. With a token, the request is
// the bearer's own.
func create[T any](ctx context.Context, r *reviews, path, token string, review T) (result T, err error) {
	body, err := json.Marshal(review)
	if err != nil {
		return result, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return result, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	began := time.Now()
	resp, err := r.http.Do(req)
	r.counters.observeReview(strings.TrimPrefix(path[strings.LastIndexByte(path, '/'):], "/"), began)
	if err != nil {
		return result, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return result, fmt.Errorf("POST %s: reading the answer: %w", path, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return result, fmt.Errorf("POST %s: %w", path, refusal(resp.StatusCode, data))
	}
	if err := json.Unmarshal(data, &result); err != nil {
		return result, fmt.Errorf("POST %s: decoding the answer: %w", path, err)
	}
	return result, nil
}

func refusal(code int, data []byte) error {
	status := metav1.Status{}
	if err := json.Unmarshal(data, &status); err != nil || status.Kind != "Status" {
		status = metav1.Status{Message: string(data[:min(len(data), 200)])}
	}
	if status.Code = int32(code); status.Reason == "" && code == http.StatusUnauthorized {
		status.Reason = metav1.StatusReasonUnauthorized
	}
	status.Message = fmt.Sprintf("%d %s: %s", code, http.StatusText(code), status.Message)
	return &apierrors.StatusError{ErrStatus: status}
}
