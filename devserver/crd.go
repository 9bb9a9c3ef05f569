// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// InstallCRDs creates each CRD, or updates the existing one: its spec is replaced, labels and
// annotations are added. It works with any cluster. It returns when every served version of every
// CRD answers a list and a watch; on a [Server], also when changes of a schema are in force. It
// never changes crds.
//
// An error names the CRD and wraps the API server's answer. Names taken by another CRD and missing
// permissions of cfg are reported as soon as the API server reports them. If ctx ends first the
// error wraps context.Cause(ctx); CRDs installed by then stay.
func InstallCRDs(ctx context.Context, cfg *rest.Config, crds ...*apiextensionsv1.CustomResourceDefinition) error {
	if len(crds) == 0 {
		return nil
	}
	if err := errors.Join(checkCRDs(crds)...); err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	if cfg == nil {
		return errors.New("install CRDs: the REST config is nil")
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.RateLimiter, cfg.ContentConfig = -1, nil, jsonContent
	client, err := clientset.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}

	for _, crd := range crds {
		if err := applyCRD(ctx, client, crd); err != nil {
			return fmt.Errorf("install CRD %s: %w", crd.Name, err)
		}
	}
	for _, crd := range crds {
		if err := awaitEstablished(ctx, client, crd.Name); err != nil {
			return fmt.Errorf("install CRD %s: %w", crd.Name, err)
		}
	}
	return awaitServed(ctx, cfg, crds)
}

func checkCRDs(crds []*apiextensionsv1.CustomResourceDefinition) (errs []error) {
	seen := map[string]bool{}
	for i, crd := range crds {
		switch {
		case crd == nil:
			errs = append(errs, fmt.Errorf("CRD number %d is nil", i+1))
		case crd.Name == "":
			errs = append(errs, fmt.Errorf("CRD number %d (kind %q) has no name", i+1, crd.Spec.Names.Kind))
		case seen[crd.Name]:
			errs = append(errs, fmt.Errorf("CRD %s is given twice", crd.Name))
		default:
			seen[crd.Name] = true
		}
	}
	return errs
}

// applyCRD creates or updates. It doesn't wait until the CRD is served.
func applyCRD(ctx context.Context, client clientset.Interface, want *apiextensionsv1.CustomResourceDefinition) error {
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	want = want.DeepCopy()
	want.ResourceVersion, want.UID = "", ""
	want.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	_, err := crds.Create(ctx, want, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		have, err := crds.Get(ctx, want.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		have.Spec = want.Spec
		for k, v := range want.Labels {
			metav1.SetMetaDataLabel(&have.ObjectMeta, k, v)
		}
		for k, v := range want.Annotations {
			metav1.SetMetaDataAnnotation(&have.ObjectMeta, k, v)
		}
		_, err = crds.Update(ctx, have, metav1.UpdateOptions{})
		return err
	})
}

func awaitEstablished(ctx context.Context, client clientset.Interface, name string) error {
	return poll(ctx, func(ctx context.Context) error {
		crd, err := client.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return refusal{fmt.Errorf("it was deleted meanwhile: %w", err)}
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
			return refusal{err}
		case err != nil:
			return err
		}
		for _, c := range crd.Status.Conditions {
			if c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse {
				return refusal{fmt.Errorf("the names are not accepted: %s: %s", c.Reason, c.Message)}
			}
		}
		if isEstablished(crd) {
			return nil
		}
		return fmt.Errorf("not established yet: %v", crd.Status.Conditions)
	})
}

func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established {
			return c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

func awaitServed(ctx context.Context, cfg *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition) error {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return fmt.Errorf("wait for CRDs to be served: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return fmt.Errorf("wait for CRDs to be served: %w", err)
	}
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			url := strings.TrimSuffix(base.String(), "/") + "/apis/" + crd.Spec.Group + "/" + v.Name + "/" + crd.Spec.Names.Plural
			for _, query := range []string{"?limit=1", "?watch=true&timeoutSeconds=1"} {
				err := poll(ctx, func(ctx context.Context) error { return ask(ctx, client, url+query) })
				if err != nil {
					return fmt.Errorf("wait for CRD %s to be served at %s: %w", crd.Name, v.Name, err)
				}
			}
		}
	}
	return nil
}

// awaitCRDs wraps the API server's handler. It holds the answer to a change of a CRD until the API
// server knows the change, so that the client's next request meets the new schema.
func (s *Server) awaitCRDs(next http.Handler) http.Handler {
	crds := s.api.Informers.Apiextensions().V1().CustomResourceDefinitions().Lister()
	client := clientset.NewForConfigOrDie(s.loop.config()).ApiextensionsV1().CustomResourceDefinitions()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		name, isCRD := strings.CutPrefix(r.URL.Path, crdPath+"/")
		if !isCRD || strings.Contains(name, "/") || (r.Method != http.MethodPut && r.Method != http.MethodPatch) {
			return
		}
		now, err := client.Get(r.Context(), name, metav1.GetOptions{})
		if err != nil {
			return
		}
		_ = poll(r.Context(), func(context.Context) error {
			known, err := crds.Get(name)
			if apierrors.IsNotFound(err) || err == nil && known.Generation >= now.Generation {
				return nil
			}
			return errors.New("not seen yet")
		})
	})
}
