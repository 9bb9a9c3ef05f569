// SPDX-License-Identifier: Apache-2.0

// Package podtest has Pods as written by API servers, in JSON and in other formats. Only tests use
// it.
package podtest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
)

// Pod returns a Pod in JSON without apiVersion and kind, as in lists.
func Pod(name, version string) string {
	return `{"metadata":{"name":"` + name + `","namespace":"ns","resourceVersion":"` + version + `"}}`
}

// KindPod returns a Pod in JSON with apiVersion and kind, as in events.
func KindPod(name, version string) string {
	return `{"apiVersion":"v1","kind":"Pod",` + Pod(name, version)[1:]
}

// WithKind adds apiVersion and kind to a Pod.
func WithKind(pod string) string { return `{"apiVersion":"v1","kind":"Pod",` + pod[1:] }

// BrokenBody returns a body that fails after its content, like a reset connection.
func BrokenBody(content string, err error) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(content), iotest.ErrReader(err)))
}

// List returns a list of Pods in JSON.
func List(version string, items ...string) string {
	return `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"` + version + `"},"items":[` + strings.Join(items, ",") + `]}`
}

// Large returns a Pod of realistic size and parts.
func Large(i int) string {
	return fmt.Sprintf(`{"metadata":{"name":"web-%[1]d","generateName":"web-","namespace":"shop","uid":"6d7f2c0e-7d5e-4a8c-9d43-%012[1]d","resourceVersion":"%[1]d",
"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web","pod-template-hash":"5d4f8c7b9"},"annotations":{"example.test/checksum":"%064[1]x"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-5d4f8c7b9","uid":"0d7f2c0e-7d5e-4a8c-9d43-000000000000","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:09Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:phase":{},"f:podIP":{}}},"subresource":"status"}]},
"spec":{"volumes":[{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],
"containers":[{"name":"web","image":"registry.test/web:1.2.3","args":["--port","8080"],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"MODE","value":"production"},{"name":"IP","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}}],
"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets"}],
"livenessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"imagePullPolicy":"IfNotPresent"}],
"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","nodeName":"node-%[2]d","securityContext":{},"schedulerName":"default-scheduler",
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true},
"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:09Z"}],"hostIP":"10.0.0.%[2]d","podIP":"10.1.2.%[2]d","podIPs":[{"ip":"10.1.2.%[2]d"}],"startTime":"2026-01-02T03:04:05Z",
"containerStatuses":[{"name":"web","state":{"running":{"startedAt":"2026-01-02T03:04:08Z"}},"lastState":{},"ready":true,"restartCount":0,"image":"registry.test/web:1.2.3","imageID":"registry.test/web@sha256:%064[1]x","containerID":"containerd://%064[1]x","started":true}],"qosClass":"Burstable"}}`, i, i%50)
}

// LargeList returns a list of n Pods made by Large.
func LargeList(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = Large(i + 1)
	}
	return List("12345", items...)
}

// LargeObject returns the i-th of them, decoded by apimachinery.
func LargeObject(t testing.TB, i int) *corev1.Pod {
	t.Helper()
	var p corev1.Pod
	if err := json.Unmarshal([]byte(WithKind(Large(i))), &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// Events of a watch in JSON.
const (
	Bookmark    = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9","creationTimestamp":null},"spec":{"containers":null}}}`
	EndBookmark = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}`
	Gone        = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}`
	Throttled   = `{"object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","details":{"retryAfterSeconds":7},"code":429},"type":"ERROR"}`
)

// Event returns an event of a watch in JSON.
func Event(typ, obj string) string { return `{"type":"` + typ + `","object":` + obj + `}` }
