// SPDX-License-Identifier: Apache-2.0

package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/server/serve"
)

func unauthorized() error { return apierrors.NewUnauthorized("Unauthorized") }

// forbidden returns an API server's answer to a user without the right. reason may be empty.
func forbidden(user string, a serve.Attributes, reason string) error {
	text := fmt.Sprintf("User %q cannot %s path %q", user, a.Verb, a.Path)
	if a.Path == "" {
		resource, where := a.Resource.Resource, "at the cluster scope"
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		if ns := namespaceOf(a); ns != "" {
			where = fmt.Sprintf("in the namespace %q", ns)
		}
		text = fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", user, a.Verb, resource, a.Resource.Group, where)
	}
	if reason != "" {
		text += ": " + reason
	}
	return apierrors.NewForbidden(a.Resource.GroupResource(), a.Name, errors.New(text))
}

func impersonationRefused() error {
	return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("the relay does not impersonate users; send the request to the API server"))
}

// reviewFailed returns the answer to a caller who couldn't be reviewed. It leaves out the text of
// err, which might tell a stranger about the cluster; the log has it.
func reviewFailed(err error) error {
	if errors.Is(err, errTooMany) {
		return apierrors.NewTooManyRequests("too many requests by unknown or refused callers; try again", 1)
	}
	answer := apierrors.NewServiceUnavailable("the API server can't review the caller's rights; try again")
	answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return answer
}

func resultOf(err error) string {
	switch {
	case err == nil:
		return resultAllowed
	case apierrors.IsUnauthorized(err):
		return resultUnauthorized
	case apierrors.IsForbidden(err):
		return resultForbidden
	case apierrors.IsTooManyRequests(err):
		return resultLimited
	}
	return resultFailed
}

// Refuse answers a request with err, as an API server does: an *apierrors.StatusError as it is, any
// other error as an internal one.
func Refuse(w http.ResponseWriter, err error) {
	var known *apierrors.StatusError
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	data, err := json.Marshal(status)
	if err != nil {
		panic(err) // a struct of strings and numbers has JSON
	}
	w.Header().Set("Content-Type", "application/json")
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(append(data, '\n')) // an error means the client has gone
}
