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

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	tokenReviews  = "/apis/authentication.k8s.io/v1/tokenreviews"
	accessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

	maxBytes = 1 << 20 // of an answer
)

// reviewer sends reviews. client-go's typed clients would do the same, at the price of all kinds.
type reviewer struct {
	http *http.Client
	base *url.URL
}

func newReviewer(config *rest.Config) (reviewer, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return reviewer{}, fmt.Errorf("host %q: %w", config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return reviewer{}, fmt.Errorf("transport to %s: %w", base.Redacted(), err)
	}
	return reviewer{client, base}, nil
}

// userOf returns the token's user, or nil if it has none.
func (r reviewer) userOf(ctx context.Context, token string) (*authenticationv1.UserInfo, error) {
	review := authenticationv1.TokenReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "TokenReview"},
		Spec:     authenticationv1.TokenReviewSpec{Token: token},
	}
	err := r.post(ctx, tokenReviews, &review)
	if err != nil || !review.Status.Authenticated {
		return nil, err
	}
	return &review.Status.User, nil
}

func (r reviewer) isAllowed(ctx context.Context, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	review := authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"},
		Spec:     spec,
	}
	err := r.post(ctx, accessReviews, &review)
	if err == nil && !review.Status.Allowed && !review.Status.Denied && review.Status.EvaluationError != "" {
		err = errors.New("the API server could not decide: " + review.Status.EvaluationError)
	}
	return err == nil && review.Status.Allowed && !review.Status.Denied, err
}

// post creates a review and replaces it with the answer.
func (r reviewer) post(ctx context.Context, path string, review any) error {
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := r.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes))
	if err != nil {
		return fmt.Errorf("POST %s: reading the answer: %w", path, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("POST %s: %s: %s; the ClusterRole system:auth-delegator has the rights for reviews", path, resp.Status, data[:min(len(data), 200)])
	}
	if err := json.Unmarshal(data, review); err != nil {
		return fmt.Errorf("POST %s: decoding the answer: %w", path, err)
	}
	return nil
}
