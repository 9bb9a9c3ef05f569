// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Access answers reviews of rights and tokens.
type Access interface {
	authorizer.UnconditionalAuthorizer
	authorizer.RuleResolver
}

// review is a kind that is created only for its answer, and isn't stored.
type review struct {
	gv                 schema.GroupVersion
	resource, singular string
	namespaced         bool
	object             runtime.Object // prototype

	// answer fills in the status.
	answer func(ctx context.Context, c *Config, obj runtime.Object) error
}

func reviews() []review {
	authentication, authorization := authenticationv1.SchemeGroupVersion, authorizationv1.SchemeGroupVersion
	return []review{
		{authorization, "selfsubjectaccessreviews", "selfsubjectaccessreview", false, &authorizationv1.SelfSubjectAccessReview{}, reviewOwnAccess},
		{authorization, "selfsubjectrulesreviews", "selfsubjectrulesreview", false, &authorizationv1.SelfSubjectRulesReview{}, reviewOwnRules},
		{authorization, "subjectaccessreviews", "subjectaccessreview", false, &authorizationv1.SubjectAccessReview{}, reviewAccess},
		{authorization, "localsubjectaccessreviews", "localsubjectaccessreview", true, &authorizationv1.LocalSubjectAccessReview{}, reviewLocalAccess},
		{authentication, "selfsubjectreviews", "selfsubjectreview", false, &authenticationv1.SelfSubjectReview{}, reviewSelf},
		{authentication, "tokenreviews", "tokenreview", false, &authenticationv1.TokenReview{}, reviewToken},
	}
}

type reviewStorage struct {
	review
	config *Config
}

var (
	_ rest.Creater              = reviewStorage{}
	_ rest.Scoper               = reviewStorage{}
	_ rest.SingularNameProvider = reviewStorage{}
)

func (s reviewStorage) New() runtime.Object     { return newLike(s.object) }
func (s reviewStorage) Destroy()                {}
func (s reviewStorage) NamespaceScoped() bool   { return s.namespaced }
func (s reviewStorage) GetSingularName() string { return s.singular }

// Create answers a review.
func (s reviewStorage) Create(ctx context.Context, obj runtime.Object, valid rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	if valid != nil {
		if err := valid(ctx, obj); err != nil {
			return nil, err
		}
	}
	return obj, s.answer(ctx, s.config, obj)
}

func invalidReview(kind string, errs ...*field.Error) error {
	return apierrors.NewInvalid(authorizationv1.SchemeGroupVersion.WithKind(kind).GroupKind(), "", errs)
}

func currentUser(ctx context.Context) (user.Info, error) {
	u, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewBadRequest("no user present on request")
	}
	return u, nil
}

func reviewOwnAccess(ctx context.Context, c *Config, obj runtime.Object) error {
	r := obj.(*authorizationv1.SelfSubjectAccessReview)
	u, err := currentUser(ctx)
	if err != nil {
		return err
	}
	r.Status, err = decide(ctx, c, "SelfSubjectAccessReview", u, r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return err
}

func reviewAccess(ctx context.Context, c *Config, obj runtime.Object) (err error) {
	r := obj.(*authorizationv1.SubjectAccessReview)
	r.Status, err = decideFor(ctx, c, "SubjectAccessReview", r.Spec)
	return err
}

func reviewLocalAccess(ctx context.Context, c *Config, obj runtime.Object) (err error) {
	r := obj.(*authorizationv1.LocalSubjectAccessReview)
	namespace := genericapirequest.NamespaceValue(ctx)
	if r.Spec.ResourceAttributes != nil && r.Spec.ResourceAttributes.Namespace != namespace {
		return invalidReview("LocalSubjectAccessReview",
			field.Invalid(specPath.Child("resourceAttributes", "namespace"), r.Spec.ResourceAttributes.Namespace, "must match metadata.namespace"))
	}
	r.Status, err = decideFor(ctx, c, "LocalSubjectAccessReview", r.Spec)
	return err
}

func decideFor(ctx context.Context, c *Config, kind string, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	if spec.User == "" && len(spec.Groups) == 0 {
		return authorizationv1.SubjectAccessReviewStatus{}, invalidReview(kind, field.Invalid(specPath.Child("user"), spec.User, "at least one of user or group must be specified"))
	}
	u := &user.DefaultInfo{Name: spec.User, UID: spec.UID, Groups: spec.Groups, Extra: map[string][]string{}}
	for key, values := range spec.Extra {
		u.Extra[key] = values
	}
	return decide(ctx, c, kind, u, spec.ResourceAttributes, spec.NonResourceAttributes)
}

func decide(
	ctx context.Context, c *Config, kind string, u user.Info, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes,
) (status authorizationv1.SubjectAccessReviewStatus, err error) {
	asked := authorizer.AttributesRecord{User: u}
	switch {
	case (resource == nil) == (path == nil):
		return status, invalidReview(kind, field.Invalid(specPath.Child("resourceAttributes"), resource, "exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	case resource != nil:
		asked.Verb, asked.Namespace, asked.APIGroup, asked.APIVersion = resource.Verb, resource.Namespace, resource.Group, resource.Version
		asked.Resource, asked.Subresource, asked.Name, asked.ResourceRequest = resource.Resource, resource.Subresource, resource.Name, true
	default:
		asked.Verb, asked.Path = path.Verb, path.Path
	}
	decision, reason, err := c.Access.Authorize(ctx, asked)
	status.Allowed, status.Denied, status.Reason = decision == authorizer.DecisionAllow, decision == authorizer.DecisionDeny, reason
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status, nil
}

func reviewOwnRules(ctx context.Context, c *Config, obj runtime.Object) error {
	r := obj.(*authorizationv1.SelfSubjectRulesReview)
	u, err := currentUser(ctx)
	if err != nil {
		return err
	}
	if r.Spec.Namespace == "" {
		return apierrors.NewBadRequest("no namespace on request")
	}
	resources, paths, incomplete, err := c.Access.RulesFor(ctx, u, r.Spec.Namespace)
	r.Status = authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{}, Incomplete: incomplete,
	}
	for _, rule := range resources {
		r.Status.ResourceRules = append(r.Status.ResourceRules, authorizationv1.ResourceRule{
			Verbs: rule.GetVerbs(), APIGroups: rule.GetAPIGroups(), Resources: rule.GetResources(), ResourceNames: rule.GetResourceNames(),
		})
	}
	for _, rule := range paths {
		r.Status.NonResourceRules = append(r.Status.NonResourceRules, authorizationv1.NonResourceRule{
			Verbs: rule.GetVerbs(), NonResourceURLs: rule.GetNonResourceURLs(),
		})
	}
	if err != nil {
		r.Status.EvaluationError = err.Error()
	}
	return nil
}

func reviewSelf(ctx context.Context, _ *Config, obj runtime.Object) error {
	u, err := currentUser(ctx)
	if err != nil {
		return err
	}
	obj.(*authenticationv1.SelfSubjectReview).Status.UserInfo = userInfo(u)
	return nil
}

func userInfo(u user.Info) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	for key, values := range u.GetExtra() {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}

func reviewToken(ctx context.Context, c *Config, obj runtime.Object) error {
	r := obj.(*authenticationv1.TokenReview)
	if r.Spec.Token == "" {
		return apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	if len(r.Spec.Audiences) > 0 {
		ctx = authenticator.WithAudiences(ctx, r.Spec.Audiences)
	}
	response, ok, err := c.Tokens.AuthenticateToken(ctx, r.Spec.Token)
	r.Status = authenticationv1.TokenReviewStatus{Authenticated: ok}
	if err != nil {
		r.Status.Error = err.Error()
	}
	if ok {
		r.Status.User, r.Status.Audiences = userInfo(response.User), response.Audiences
	}
	return nil
}
