// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/informer-gen/informer-gen/devserver/internal/builtin"
	"github.com/informer-gen/informer-gen/devserver/internal/rbac"
)

// access authenticates and authorizes the clients.
type access struct {
	tokens *builtin.Tokens // nil without built-in kinds
	roles  *rbac.Authorizer
}

var (
	_ builtin.Access        = (*access)(nil)
	_ authenticator.Request = (*access)(nil)
)

// AuthenticateRequest takes clients without a bearer token for administrators.
func (a *access) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	if a.tokens != nil && r.Header.Get("Authorization") != "" {
		return group.NewAuthenticatedGroupAdder(bearertoken.New(a.tokens)).AuthenticateRequest(r)
	}
	return genericapiserver.InsecureSuperuser{}.AuthenticateRequest(r)
}

// authorizer returns the authorizer of requests. It gets the attributes of every request: user,
// verb, group, resource, subresource, namespace and name. A request that impersonates is preceded
// by one with the verb impersonate. Reviews don't pass here, so a record of requests belongs here.
func (a *access) authorizer() authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		return a.Authorize(ctx, attributes)
	})
}

// Authorize allows everything, or what RBAC allows.
func (a *access) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.roles == nil {
		return authorizer.DecisionAllow, "", nil
	}
	return a.roles.Authorize(ctx, attributes)
}

// RulesFor returns the rules that Authorize applies to u.
func (a *access) RulesFor(ctx context.Context, u user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	if a.roles == nil {
		everyone := &user.DefaultInfo{Groups: []string{user.SystemPrivilegedGroup}}
		return rbac.Authorizer{}.RulesFor(ctx, everyone, namespace)
	}
	return a.roles.RulesFor(ctx, u, namespace)
}
