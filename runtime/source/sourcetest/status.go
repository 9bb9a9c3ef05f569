// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func typed(status *metav1.Status) *metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
}

// refusal returns an error of a write as API servers send it; nil for nil.
func refusal(err error) *metav1.Status {
	var known apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		status := known.Status()
		return typed(&status)
	}
	return typed(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()})
}

func badRequest(message string) *metav1.Status {
	status := Status(http.StatusBadRequest)
	status.Message = message
	return status
}

// tooLarge refuses a version that the server has not reached.
func tooLarge(version, present int64) *metav1.Status {
	status := Status(http.StatusGatewayTimeout)
	status.Message = "Timeout: Too large resource version: " + format(version) + ", current: " + format(present)
	status.Details = &metav1.StatusDetails{
		RetryAfterSeconds: 1,
		Causes:            []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}},
	}
	return status
}

func expired(version, oldest int64) *metav1.Status {
	status := Status(http.StatusGone)
	status.Message = "too old resource version: " + format(version) + " (" + format(oldest) + ")"
	return status
}
