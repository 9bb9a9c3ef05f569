// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

const typesPath = "k8s.io/apimachinery/pkg/types"

var likeKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// owner reads what kind of owners an index is about.
func (r *resolver) owner(m *marker.Index, x *model.Index) bool {
	text := m.Owner.Text
	if text == "controller" {
		x.Owner, x.Key = &model.Owner{Controller: true}, model.GoType{Path: typesPath, Package: "types", Name: "UID"}
		return true
	}
	fail := func(offset int, format string, args ...any) bool {
		r.fail(m.At, m.Owner.At(offset), fmt.Sprintf(format, args...), nil)
		return false
	}
	const want = "write controller, or a kind and its group as in Deployment.apps (Node for one of the core group)"
	kindName, group, hasGroup := strings.Cut(text, ".")
	behind := len(kindName) + len(".")
	version, rest, _ := strings.Cut(group, ".")
	switch {
	case text == "":
		return fail(0, "the owner is empty: %s", want)
	case strings.EqualFold(text, "controller"):
		return fail(0, "no kind of the core group is called %s, did you mean controller?", text)
	case strings.Contains(text, "/"):
		return fail(strings.Index(text, "/"), "an owner isn't written with a slash and is of any version: %s", want)
	case likeVersion.MatchString(version):
		hint := kindName
		if rest != "" {
			hint += "." + rest
		}
		return fail(behind, "owners of any version count: write %s without the version %s", hint, version)
	case !likeKind.MatchString(kindName):
		return fail(0, "%q is no kind, which begins with an upper-case letter like that in ownerReferences: %s", kindName, want)
	case hasGroup && len(validation.IsDNS1123Subdomain(group)) > 0:
		return fail(behind, "%q is no name for a group: %s", group, want)
	}
	if !r.knownOwner(m, kindName, group) {
		return false
	}
	x.Owner, x.Key = &model.Owner{Kind: kindName, Group: group}, model.GoType{Name: "string"}
	return true
}

// knownOwner reports whether there may be owners of a kind. It is an error if the group is known
// and doesn't have the kind. A group that isn't known may be served all the same; then a warning
// says what is assumed. So may a kind that is younger than builtIns or, in a run for some of the
// packages, one of a package that isn't read.
func (r *resolver) knownOwner(m *marker.Index, kindName, group string) bool {
	kinds, known := r.owners[group]
	if slices.Contains(kinds, kindName) {
		return true
	}
	_, isBuiltIn := builtIns[group]
	hint := ""
	if name := r.sameKind(kindName); known && name != "" {
		hint = diag.DidYouMean(name, []string{name})
	} else {
		hint = diag.DidYouMean(ownerName(kindName, group), r.ownerNames())
	}
	what := "group " + group
	if group == "" {
		what = "the core group"
	}
	assumed := fmt.Sprintf("owners of kind %s whose apiVersion begins with %s/ are taken", kindName, group)
	warn := func(format string, args ...any) bool {
		r.report.Add(diag.Diagnostic{Pos: m.Owner.Pos, Marker: m.At.Name, Warning: true, Message: fmt.Sprintf(format, args...)})
		return true
	}
	switch {
	case !known && hint != "":
		return warn("%s is neither built in nor that of a package which is read%s As it stands, %s", what, hint, assumed)
	case !known:
		return warn("%s is neither built in nor that of a package which is read: %s", what, assumed)
	case hint == "" && group != "" && (isBuiltIn || r.partial):
		return warn("no kind %s of %s is known: %s", kindName, what, assumed)
	}
	var allowed []string
	if !isBuiltIn {
		if hint == "" {
			hint = ": if there is one, add its package to inputs, or its CustomResourceDefinition to crds"
		}
		for _, kind := range kinds {
			allowed = append(allowed, ownerName(kind, group))
		}
	}
	r.fail(m.At, m.Owner.Pos, fmt.Sprintf("%s has no kind %s%s", what, kindName, hint), allowed)
	return false
}

// findOwners fills r.owners: the built-in kinds, those of the CustomResourceDefinitions, and all of
// the packages that are read, whether something is generated for them or not.
func (r *resolver) findOwners(apis []*api) {
	all := map[string]map[string]bool{}
	add := func(group, kind string) {
		if all[group] == nil {
			all[group] = map[string]bool{}
		}
		all[group][kind] = true
	}
	for group, kinds := range builtIns {
		for kind := range strings.FieldsSeq(kinds) {
			add(group, kind)
		}
	}
	for _, c := range r.crds {
		add(c.group.text, c.kind.text)
	}
	for _, a := range apis {
		group, known := a.group.text, a.group.pos.Filename != ""
		if m := marker.First[marker.GroupName](a.markers); !known && m != nil {
			group, known = m.Name.Text, true // of a package without kinds
		}
		for _, d := range a.declared {
			if known && d.spec.Name.IsExported() && (d.candidate() || r.embeds(a, d, "ObjectMeta")) {
				add(group, d.spec.Name.Name)
			}
		}
	}
	r.owners = map[string][]string{}
	for group, kinds := range all {
		r.owners[group] = slices.Sorted(maps.Keys(kinds))
	}
}

// sameKind returns how an owner of that kind is written if there is one in any group, else "".
// Groups of the run come first.
func (r *resolver) sameKind(kind string) string {
	builtIn := ""
	for _, group := range slices.Sorted(maps.Keys(r.owners)) {
		if !slices.Contains(r.owners[group], kind) {
			continue
		}
		if _, ok := builtIns[group]; !ok {
			return ownerName(kind, group)
		}
		if builtIn == "" {
			builtIn = ownerName(kind, group)
		}
	}
	return builtIn
}

// ownerNames are all known owners as one writes them.
func (r *resolver) ownerNames() []string {
	var names []string
	for _, group := range slices.Sorted(maps.Keys(r.owners)) {
		for _, kind := range r.owners[group] {
			names = append(names, ownerName(kind, group))
		}
	}
	return names
}

// ownerName is how an owner is written.
func ownerName(kind, group string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}

// builtIns are the kinds of objects with metadata that a Kubernetes API server has without
// definitions, by group.
var builtIns = map[string]string{
	"": "Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim " +
		"Pod PodTemplate RangeAllocation ReplicationController ResourceQuota Secret Service ServiceAccount",
	"admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration " +
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apiextensions.k8s.io":         "CustomResourceDefinition",
	"apiregistration.k8s.io":       "APIService",
	"apps":                         "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
	"authentication.k8s.io":        "SelfSubjectReview TokenRequest TokenReview",
	"authorization.k8s.io":         "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"autoscaling":                  "HorizontalPodAutoscaler Scale",
	"batch":                        "CronJob Job",
	"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"coordination.k8s.io":          "Lease LeaseCandidate",
	"discovery.k8s.io":             "EndpointSlice",
	"events.k8s.io":                "Event",
	"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
	"internal.apiserver.k8s.io":    "StorageVersion",
	"lifecycle.k8s.io":             "Eviction EvictionRequest",
	"networking.k8s.io":            "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
	"node.k8s.io":                  "RuntimeClass",
	"policy":                       "Eviction PodDisruptionBudget",
	"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io": "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourcePoolStatusRequest " +
		"ResourceSlice",
	"scheduling.k8s.io":       "CompositePodGroup PodGroup PriorityClass Workload",
	"storage.k8s.io":          "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io": "StorageVersionMigration",
}
