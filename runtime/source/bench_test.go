// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// benchPod is a Pod of the size and the parts that Pods have.
func benchPod(i int) string {
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

func benchList(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = benchPod(i + 1)
	}
	return podList("12345", items...)
}

// benchCases are the ways in which Pods are decoded.
var benchCases = []struct {
	name     string
	format   Format
	opts     Options
	sample   func() object.Object
	readOnly bool
}{
	{"json", JSON, Options{}, newPod, true},
	{"json-slim", JSON, benchSlim, newPod, true},
	{"json-owned", JSON, Options{}, newPod, false},
	{"json-untyped", JSON, Options{}, newUntyped, false},
	{"protobuf", Protobuf, Options{}, newPod, true},
	{"protobuf-slim", Protobuf, benchSlim, newPod, true},
	{"protobuf-owned", Protobuf, Options{}, newPod, false},
	{"cbor", CBOR, Options{}, newPod, false},
	{"cbor-slim", CBOR, benchSlim, newPod, false},
	{"cbor-untyped", CBOR, Options{}, newUntyped, false},
}

var benchSlim = Options{DropManagedFields: true, DropAnnotations: []string{"example.test/checksum"}}

func newPod() object.Object     { return &corev1.Pod{} }
func newUntyped() object.Object { return &unstructured.Unstructured{} }

// BenchmarkList decodes 1,000 Pods, as a source does it, one by one with json v2, and with
// sigs.k8s.io/json in one piece. How much several goroutines help is to be seen with -cpu 1,2,4.
func BenchmarkList(b *testing.B) {
	text := []byte(benchList(1000))
	for _, tc := range benchCases {
		b.Run(tc.name, func(b *testing.B) {
			body := transcodeList(b, text, tc.format)
			c := mustCodec(b, tc.opts, tc.sample)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				l := listReader{stream: newStream(c, "list", io.NopCloser(bytes.NewReader(body)), tc.format), deliver: func(object.Object) error { n++; return nil }}
				l.stream.readOnly = tc.readOnly
				if _, err := l.read(); err != nil || n != 1000 {
					b.Fatal(n, err)
				}
			}
		})
	}
	b.Run("json-v2", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			dec := jsontext.NewDecoder(bytes.NewReader(text), typedOptions)
			for range 12 { // to the beginning of the items
				if _, err := dec.ReadToken(); err != nil {
					b.Fatal(err)
				}
			}
			n := 0
			for dec.PeekKind() == '{' {
				if err := jsonv2.UnmarshalDecode(dec, &corev1.Pod{}); err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("sigs", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var list corev1.PodList
			if err := sigsjson.UnmarshalCaseSensitivePreserveInts(text, &list); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWatch decodes one event.
func BenchmarkWatch(b *testing.B) {
	var pod corev1.Pod
	if err := json.Unmarshal([]byte(kindPodOf(benchPod(1))), &pod); err != nil {
		b.Fatal(err)
	}
	for _, tc := range benchCases {
		b.Run(tc.name, func(b *testing.B) {
			event := encodeEvent(b, tc.format, "MODIFIED", &pod)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			left := b.N
			r := readerFunc(func(p []byte) (int, error) {
				if left == 0 {
					return 0, io.EOF
				}
				left--
				return copy(p, event), nil
			})
			c := mustCodec(b, tc.opts, tc.sample)
			w := watchReader{stream: newStream(c, "watch", io.NopCloser(&lines{r: r}), tc.format), deliver: func(Event[object.Object]) error { return nil }}
			w.stream.readOnly = tc.readOnly
			if err := w.read(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// lines makes reads of any size from a reader of whole lines.
type lines struct {
	r    io.Reader
	buf  [16 << 10]byte
	rest []byte
}

func (l *lines) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		n, err := l.r.Read(l.buf[:])
		if err != nil {
			return 0, err
		}
		l.rest = l.buf[:n]
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
