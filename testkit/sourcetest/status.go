// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func typed(status *metav1.Status) *metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
}

func refusal(err error) *metav1.Status {
	var (
		known    apierrors.APIStatus
		expired  *watchcache.ExpiredError
		tooLarge *watchcache.TooLargeError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
	case errors.As(err, &expired):
		known = apierrors.NewResourceExpired(expired.Error())
	case errors.As(err, &tooLarge):
		known = request.TooLarge(tooLarge.Error())
	default:
		return typed(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()})
	}
	status := known.Status()
	return typed(&status)
}
