// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func typed(status *metav1.Status) *metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
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
