// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"github.com/informer-gen/informer-gen/devserver/internal/builtin"
)

// refuseProtobuf answers 415 to custom resources in protobuf. The API server's handler panics over
// some of them.
func refuseProtobuf(next http.Handler, builtIn bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		custom := ok && info.IsResourceRequest && info.APIGroup != apiextensionsv1.GroupName && !(builtIn && builtin.Serves(info.APIGroup))
		if custom && slices.Contains([]string{"create", "update"}, info.Verb) && strings.HasPrefix(r.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) {
			err := negotiation.NewUnsupportedMediaTypeError([]string{runtime.ContentTypeJSON, runtime.ContentTypeYAML})
			responsewriters.ErrorNegotiated(err, apiserver.Codecs, schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// streams are the subresources of Pods that a node serves.
var streams = []string{"log", "exec", "attach", "portforward", "proxy"}

// refuseStreams answers 501 to requests for logs and connections of Pods, and says why.
func refuseStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		if ok && info.APIGroup == "" && info.Resource == "pods" && slices.Contains(streams, info.Subresource) {
			err := &apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Reason: "NotImplemented",
				Message: fmt.Sprintf("devserver runs no containers, so it doesn't serve pods/%s", info.Subresource),
			}}
			responsewriters.ErrorNegotiated(err, apiserver.Codecs, schema.GroupVersion{Version: "v1"}, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// controlled are the resources whose status a controller writes.
var controlled = []string{"deployments", "replicasets", "statefulsets", "daemonsets", "jobs"}

// warnOfNoControllers tells kubectl rollout status and kubectl wait, which watch one object, why
// they may wait for ever.
func warnOfNoControllers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		one := ok && info.Verb == "watch" && strings.Contains(r.URL.Query().Get("fieldSelector"), "metadata.name=")
		if one && slices.Contains(controlled, info.Resource) && strings.HasPrefix(r.UserAgent(), "kubectl") {
			warning.AddWarning(r.Context(), "", fmt.Sprintf("devserver runs no controllers: the status of %s changes only when a client writes it", info.Resource))
		}
		next.ServeHTTP(w, r)
	})
}
