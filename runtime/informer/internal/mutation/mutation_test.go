// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMutationError(t *testing.T) {
	m := Mutation{
		Informer: "pods/v1", Key: object.Key{Namespace: "shop", Name: "blue"}, ResourceVersion: "17",
		Path: ".spec.nodeName", Handler: "queue",
	}
	want := `pods/v1: cached object shop/blue at resourceVersion "17" was modified during a callback of handler "queue": ` +
		`.spec.nodeName has another value; modify a copy made by DeepCopyObject`
	if got := m.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	m.Handler = ""
	want = `pods/v1: cached object shop/blue at resourceVersion "17" was modified: ` +
		`.spec.nodeName has another value; modify a copy made by DeepCopyObject`
	if got := m.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestNoValueOfASecretIsReported shows that a Mutation, its text in any format, and the log line
// name a field, and contain no value of the object.
func TestNoValueOfASecretIsReported(t *testing.T) {
	old, now := "hunter2", "correct horse"
	for path, change := range map[string]func(*corev1.Secret){
		`.data["password"]`:    func(s *corev1.Secret) { s.Data["password"] = []byte(now) },
		`.data`:                func(s *corev1.Secret) { s.Data = nil },
		`.stringData["token"]`: func(s *corev1.Secret) { s.StringData["token"] = now },
		`.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`: func(s *corev1.Secret) {
			delete(s.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
		},
	} {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", Annotations: map[string]string{
				"kubectl.kubernetes.io/last-applied-configuration": old,
			}},
			Data:       map[string][]byte{"password": []byte(old)},
			StringData: map[string]string{"token": old},
		}
		var texts []string
		logs := New("secrets/v1", nil)
		logger := funcr.New(func(_, line string) { texts = append(texts, line) }, funcr.Options{})
		logs.logger = logger
		reports := New("secrets/v1", func(m Mutation) {
			if m.Path != path {
				t.Errorf("path %s, want %s", m.Path, path)
			}
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, m.Error(), string(data), fmt.Sprintf("%v %+v %#v %s", m, m, m, m))
		})
		for _, d := range []*Detector{logs, reports} {
			d.Store(secret)
		}
		change(secret)
		for _, d := range []*Detector{logs, reports} {
			d.Check("queue", nil, secret)
		}
		if len(texts) != 4 {
			t.Errorf("%s: texts %q, want a log line and three texts of the report", path, texts)
		}
		for _, text := range texts {
			for _, value := range []string{old, now} {
				for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), fmt.Sprint([]byte(value))} {
					if strings.Contains(text, form) {
						t.Errorf("%s: the value %q is in %s", path, form, text)
					}
				}
			}
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": false, "false": false, "0": false, "yes": false, "true": true, "1": true, "TRUE": true} {
		t.Setenv("KUBE_CACHE_MUTATION_DETECTOR", value)
		if got := FromEnvironment(); got != want {
			t.Errorf("FromEnvironment() with %q = %v, want %v", value, got, want)
		}
	}
}

func TestPanicPanicsWithTheMutation(t *testing.T) {
	m := Mutation{Path: ".spec"}
	defer func() {
		err, _ := recover().(error)
		var got Mutation
		if !errors.As(err, &got) || got != m {
			t.Errorf("the panic value is %v, want %v", err, m)
		}
	}()
	New("pods", Panic).report(m)
}
