// SPDX-License-Identifier: Apache-2.0

package request

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TooLarge returns the refusal of a request whose version the server hasn't reached in time.
func TooLarge(message string) *apierrors.StatusError {
	err := apierrors.NewTimeoutError(message, 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{
		{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
	}
	return err
}

// Expired returns the refusal of a list whose version is too old. A client reading pages gets a
// token for continuing in the newest state.
func (r *Request) Expired() *apierrors.StatusError {
	if r.From == "" {
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
		"Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted " +
		"between the time the first chunk was returned and now may show up in the list.")
	err.ErrStatus.Continue = r.Next(-1, r.From)
	return err
}
