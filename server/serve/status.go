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

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// statusOf returns the Status for an error: an API server's where it has one, otherwise 500.
func statusOf(err error) *metav1.Status {
	var (
		apiStatus apierrors.APIStatus
		expired   *watchcache.ExpiredError
		tooLarge  *watchcache.TooLargeError
		notReady  *watchcache.NotReadyError
	)
	switch {
	case errors.As(err, &apiStatus):
	case errors.As(err, &expired):
		apiStatus = apierrors.NewResourceExpired(expired.Error())
	case errors.As(err, &tooLarge):
		apiStatus = request.TooLarge(tooLarge.Error())
	case errors.As(err, &notReady):
		apiStatus = apierrors.NewTooManyRequests("storage is (re)initializing", retryAfter(notReady))
	default:
		return withTypeMeta(metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()})
	}
	return withTypeMeta(apiStatus.Status())
}

func withTypeMeta(status metav1.Status) *metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// retryAfter returns the number of seconds until a client should try again. It grows with the time
// the cache has been without objects, up to 30.
func retryAfter(e *watchcache.NotReadyError) int {
	return int(min(max(math.Exp(0.06*e.Since.Seconds()), 1), 30))
}

func (h *Handler) refuse(w http.ResponseWriter, req *http.Request, err error) {
	status := statusOf(err)
	kind := request.Prefer(req.Header.Get("Accept"), request.JSON, request.Protobuf)
	data, err := json.Marshal(status)
	if kind == request.Protobuf {
		data, err = protobufStatus(status)
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
