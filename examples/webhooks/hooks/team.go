// SPDX-License-Identifier: Apache-2.0

// Package hooks has the webhooks of this project's kinds.
package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "github.com/informer-gen/informer-gen/examples/webhooks/api/v1"
)

// +kubebuilder:webhook:path=/mutate-tutorial-example-com-v1-team,mutating=true,failurePolicy=fail,sideEffects=None,groups=tutorial.example.com,resources=teams,verbs=create;update,versions=v1,name=mteam-v1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-tutorial-example-com-v1-team,mutating=false,failurePolicy=fail,sideEffects=None,groups=tutorial.example.com,resources=teams,verbs=create;update,versions=v1,name=vteam-v1.example.com,admissionReviewVersions=v1

// SetupTeamWebhookWithManager registers the webhooks of teams: the defaulter, the validator and,
// because the versions of Team are convertible, the converter.
func SetupTeamWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1.Team{}).
		WithDefaulter(teamDefaulter{}).
		WithValidator(teamValidator{}).
		Complete()
}

type teamDefaulter struct{}

// Default makes the first member the lead, unless the team has one.
func (teamDefaulter) Default(_ context.Context, team *v1.Team) error {
	if team.Spec.Lead == "" && len(team.Spec.Members) > 0 {
		team.Spec.Lead = team.Spec.Members[0]
	}
	return nil
}

type teamValidator struct{}

// ValidateCreate refuses a team whose lead is not a member.
func (teamValidator) ValidateCreate(_ context.Context, team *v1.Team) (admission.Warnings, error) {
	if lead, members := team.Spec.Lead, team.Spec.Members; lead != "" && !slices.Contains(members, lead) {
		return nil, fmt.Errorf("spec.lead: %s is not a member; choose one of %s", lead, strings.Join(members, ", "))
	}
	return nil, nil
}

// ValidateUpdate is like ValidateCreate.
func (v teamValidator) ValidateUpdate(ctx context.Context, _, team *v1.Team) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, team)
}

// ValidateDelete allows all.
func (teamValidator) ValidateDelete(context.Context, *v1.Team) (admission.Warnings, error) {
	return nil, nil
}
