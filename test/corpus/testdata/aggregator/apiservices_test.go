// SPDX-License-Identifier: Apache-2.0

package user

import (
	"path"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"

	listers "corpus.example/user/generated/listers/apiregistration/v1"
)

// apiService makes an APIService. Without a service, the API server itself serves it.
func apiService(name, service string) *apiregistrationv1.APIService {
	s := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Group, s.Spec.Version = "metrics.k8s.io", "v1"
	if service != "" {
		s.Spec.Service = &apiregistrationv1.ServiceReference{Namespace: "kube-system", Name: service}
	}
	return s
}

func TestAPIServices(t *testing.T) {
	for _, format := range []string{sourcetest.JSON, sourcetest.Protobuf} {
		t.Run(path.Base(format), func(t *testing.T) {
			server := sourcetest.New()
			server.MediaTypes = []string{format}
			written := sourcetest.Serve[*apiregistrationv1.APIService](server, listers.APIServiceResource(), "")
			written.Create(apiService("v1.apps", ""))
			written.Create(apiService("v1.metrics.k8s.io", "metrics"))

			factory, answers := newFactory(t, server.Config())
			services := factory.Apiregistration().V1().APIServices()
			lister := services.Lister()
			told := record(t, services.Informer(), func(s *apiregistrationv1.APIService) bool { return s.Name != "v1.apps" })
			start(t, factory)

			await(t, services.Informer(), written.Create(apiService("v2.metrics.k8s.io", "metrics")))
			key := listers.APIServiceByServiceKey{Namespace: "kube-system", Name: "metrics"}
			wantNames(t, "APIServices of metrics", lister.ListByService(key), "v1.metrics.k8s.io", "v2.metrics.k8s.io")
			wantNames(t, "APIServices without a service", lister.ListByService(listers.APIServiceByServiceKey{}))

			await(t, services.Informer(), written.Update(apiService("v1.metrics.k8s.io", "other")))
			await(t, services.Informer(), written.Delete("", "v2.metrics.k8s.io"))
			wantNames(t, "APIServices of metrics at the end", lister.ListByService(key))
			if s, err := lister.Get("v1.metrics.k8s.io"); err != nil || s.Spec.Service.Name != "other" || s.Spec.Group != "metrics.k8s.io" {
				t.Errorf(`Get("v1.metrics.k8s.io") = %v, %v; want the service other and the group metrics.k8s.io`, s, err)
			}
			told.want(t, "add v1.metrics.k8s.io", "add v2.metrics.k8s.io", "update v1.metrics.k8s.io", "delete v2.metrics.k8s.io")
			answers.wantFormat(t, format, format+";stream=watch")
		})
	}
}
