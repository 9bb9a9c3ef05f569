// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/internal/request"
)

// statusOf returns what clients get for an error: what an API server has for it, if there is that.
func statusOf(err error) *metav1.Status {
	var (
		known    apierrors.APIStatus
		expired  *watchcache.ExpiredError
		tooLarge *watchcache.TooLargeError
		notReady *watchcache.NotReadyError
	)
	switch {
	case errors.As(err, &known):
	case errors.As(err, &expired):
		known = apierrors.NewResourceExpired(expired.Error())
	case errors.As(err, &tooLarge):
		timeout := apierrors.NewTimeoutError(tooLarge.Error(), 1)
		timeout.ErrStatus.Details.Causes = []metav1.StatusCause{
			{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
		}
		known = timeout
	case errors.As(err, &notReady):
		known = apierrors.NewTooManyRequests("storage is (re)initializing", retryAfter(notReady))
	default:
		return typed(metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()})
	}
	return typed(known.Status())
}

func typed(status metav1.Status) *metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// retryAfter returns in how many seconds a client should try again: in more of them the longer the
// cache has been without objects, up to 30.
func retryAfter(e *watchcache.NotReadyError) int {
	return int(min(max(math.Exp(0.06*e.Since.Seconds()), 1), 30))
}

// expiredList returns what a list gets for a version that is too old. A client that was reading
// pages gets a token with which it may go on in the newest state.
func expiredList(err error, r *request.Request) error {
	var expired *watchcache.ExpiredError
	switch {
	case !errors.As(err, &expired):
		return err
	case r.From == "":
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	status := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
		"Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted " +
		"between the time the first chunk was returned and now may show up in the list.")
	status.ErrStatus.Continue = request.Token{Version: -1, Start: relative(r.From, r.Namespace)}.String()
	return status
}

// refuse answers a request with an error, in the format that the client asks for.
func (h *Handler) refuse(w http.ResponseWriter, req *http.Request, err error) {
	status := statusOf(err)
	kind := request.StatusFormat(req.Header.Get("Accept"))
	data, err := json.Marshal(status)
	if kind == request.Protobuf {
		data, err = protobuf(status)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("encoding a status: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(kind))
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(status.Code))
	_, _ = h.connection(w).Write(data)
}

// protobuf returns a status as every protobuf object of Kubernetes is sent: k8s, a zero byte, and
// an envelope.
func protobuf(status *metav1.Status) ([]byte, error) {
	raw, err := status.Marshal()
	if err != nil {
		return nil, err
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: status.APIVersion, Kind: status.Kind}, Raw: raw}
	data, err := unknown.Marshal()
	return append([]byte("k8s\x00"), data...), err
}
