// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePod(c *checks, p, old *corev1.Pod) {
	c.podSpec(specPath, &p.Spec)
	if old == nil {
		return
	}
	fixed := p.Spec.DeepCopy()
	for name, same := range map[string]bool{
		"containers":     len(fixed.Containers) == len(old.Spec.Containers),
		"initContainers": len(fixed.InitContainers) == len(old.Spec.InitContainers),
	} {
		if !same {
			c.forbid(specPath.Child(name), "pod updates may not add or remove containers")
			return
		}
	}
	for i := range fixed.Containers {
		fixed.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range fixed.InitContainers {
		fixed.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	fixed.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	if valueOf(old.Spec.TerminationGracePeriodSeconds) < 0 && valueOf(fixed.TerminationGracePeriodSeconds) == 1 {
		fixed.TerminationGracePeriodSeconds = old.Spec.TerminationGracePeriodSeconds
	}
	if !slices.ContainsFunc(old.Spec.Tolerations, func(t corev1.Toleration) bool {
		return !slices.ContainsFunc(fixed.Tolerations, func(now corev1.Toleration) bool { return equality.Semantic.DeepEqual(now, t) })
	}) {
		fixed.Tolerations = old.Spec.Tolerations
	}
	if len(old.Spec.SchedulingGates) > 0 {
		fixed.SchedulingGates = old.Spec.SchedulingGates
		fixed.NodeSelector, fixed.Affinity = old.Spec.NodeSelector, old.Spec.Affinity
	}
	if !equality.Semantic.DeepEqual(*fixed, old.Spec) {
		c.forbid(specPath, "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"+
			"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"+
			"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)")
	}
}

// template checks a template of Pods.
func (c *checks) template(path *field.Path, t *corev1.PodTemplateSpec) {
	c.add(metavalidation.ValidateLabels(t.Labels, path.Child("labels")))
	c.podSpec(path.Child("spec"), &t.Spec)
	if len(t.Spec.EphemeralContainers) > 0 {
		c.forbid(path.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template")
	}
}

func (c *checks) podSpec(path *field.Path, p *corev1.PodSpec) {
	volumes := c.volumes(path.Child("volumes"), p.Volumes)
	names := sets.New[string]()
	if len(p.Containers) == 0 {
		c.missing(path.Child("containers"), "")
	}
	for i := range p.InitContainers {
		c.container(path.Child("initContainers").Index(i), &p.InitContainers[i], names, volumes)
	}
	for i := range p.Containers {
		c.container(path.Child("containers").Index(i), &p.Containers[i], names, volumes)
	}
	supported(c, path.Child("restartPolicy"), p.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	supported(c, path.Child("dnsPolicy"), p.DNSPolicy, corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)
	if s := p.ActiveDeadlineSeconds; s != nil && *s < 1 {
		c.invalid(path.Child("activeDeadlineSeconds"), *s, "must be between 1 and 2147483647, inclusive")
	}
	if p.ServiceAccountName != "" {
		c.matches(path.Child("serviceAccountName"), p.ServiceAccountName, validation.IsDNS1123Subdomain)
	}
	if p.NodeName != "" {
		c.matches(path.Child("nodeName"), p.NodeName, validation.IsDNS1123Subdomain)
	}
	c.add(metavalidation.ValidateLabels(p.NodeSelector, path.Child("nodeSelector")))
	for i, t := range p.Tolerations {
		at := path.Child("tolerations").Index(i)
		supported(c, at.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			c.invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
	}
}

// volumes returns the names of the volumes.
func (c *checks) volumes(path *field.Path, volumes []corev1.Volume) sets.Set[string] {
	names := sets.New[string]()
	for i, v := range volumes {
		at := path.Index(i)
		c.name(at.Child("name"), v.Name, validation.IsDNS1123Label)
		if names.Has(v.Name) {
			c.duplicate(at.Child("name"), v.Name)
		}
		names.Insert(v.Name)
		c.source(at, v.VolumeSource)
		if s := v.ConfigMap; s != nil {
			c.required(at.Child("configMap", "name"), s.Name)
		}
		if s := v.Secret; s != nil {
			c.required(at.Child("secret", "secretName"), s.SecretName)
		}
		if s := v.PersistentVolumeClaim; s != nil {
			c.required(at.Child("persistentVolumeClaim", "claimName"), s.ClaimName)
		}
		if s := v.HostPath; s != nil {
			c.required(at.Child("hostPath", "path"), s.Path)
		}
	}
	return names
}

// source checks that exactly one of the pointers of a struct is set.
func (c *checks) source(path *field.Path, sources any) {
	found := 0
	for i := range reflect.ValueOf(sources).NumField() {
		source := reflect.ValueOf(sources).Field(i)
		if source.Kind() != reflect.Pointer || source.IsNil() {
			continue
		}
		if found++; found > 1 {
			name, _ := jsonName(reflect.TypeOf(sources).Field(i))
			c.forbid(path.Child(name), "may not specify more than 1 volume type")
		}
	}
	if found == 0 {
		c.missing(path, "must specify a volume type")
	}
}

func (c *checks) container(path *field.Path, container *corev1.Container, names, volumes sets.Set[string]) {
	c.name(path.Child("name"), container.Name, validation.IsDNS1123Label)
	if container.Name != "" && names.Has(container.Name) {
		c.duplicate(path.Child("name"), container.Name)
	}
	names.Insert(container.Name)
	if c.required(path.Child("image"), container.Image) && strings.TrimSpace(container.Image) != container.Image {
		c.invalid(path.Child("image"), container.Image, "must not have leading or trailing whitespace")
	}
	supported(c, path.Child("imagePullPolicy"), container.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	portNames := sets.New[string]()
	for i, p := range container.Ports {
		at := path.Child("ports").Index(i)
		if p.ContainerPort == 0 {
			c.missing(at.Child("containerPort"), "")
		} else {
			c.port(at.Child("containerPort"), p.ContainerPort)
		}
		if p.HostPort != 0 {
			c.port(at.Child("hostPort"), p.HostPort)
		}
		supported(c, at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
		if p.Name == "" {
			continue
		}
		c.matches(at.Child("name"), p.Name, validation.IsValidPortName)
		if portNames.Has(p.Name) {
			c.duplicate(at.Child("name"), p.Name)
		}
		portNames.Insert(p.Name)
	}
	for i, env := range container.Env {
		at := path.Child("env").Index(i)
		c.name(at.Child("name"), env.Name, validation.IsRelaxedEnvVarName)
		if env.Value != "" && env.ValueFrom != nil {
			c.invalid(at.Child("valueFrom"), "", "may not be specified when `value` is not empty")
		}
	}
	paths := sets.New[string]()
	for i, m := range container.VolumeMounts {
		at := path.Child("volumeMounts").Index(i)
		if c.required(at.Child("name"), m.Name) && !volumes.Has(m.Name) {
			c.errs = append(c.errs, field.NotFound(at.Child("name"), m.Name))
		}
		if c.required(at.Child("mountPath"), m.MountPath) && paths.Has(m.MountPath) {
			c.invalid(at.Child("mountPath"), m.MountPath, "must be unique")
		}
		paths.Insert(m.MountPath)
	}
	c.resources(path.Child("resources"), container.Resources.Requests, container.Resources.Limits)
}

func (c *checks) resources(path *field.Path, requests, limits corev1.ResourceList) {
	for name, q := range limits {
		c.nonNegativeQuantity(path.Child("limits").Key(string(name)), q)
	}
	for name, q := range requests {
		c.nonNegativeQuantity(path.Child("requests").Key(string(name)), q)
		if limit, ok := limits[name]; ok && q.Cmp(limit) > 0 {
			c.invalid(path.Child("requests"), q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()))
		}
	}
}
