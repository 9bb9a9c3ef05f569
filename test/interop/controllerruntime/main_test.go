// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// engines are the two caches.
var engines = []struct {
	name     string
	newCache cache.NewCacheFunc
}{
	{"theirs", cache.New},
	{"ours", controllerruntime.NewCache},
}

var server *devserver.Server // with the objects of fixtures

// leakOfTheirs is a goroutine of controller-runtime's cache. A watch of metadata leaks it if it
// ends with an undelivered event.
var leakOfTheirs = goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")

// TestMain starts the server of all tests that only read, and finds leaked goroutines. In a child
// process, it is a server.
func TestMain(m *testing.M) {
	if os.Getenv(dirVariable) != "" {
		if err := serveInChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	devservertest.VerifyTestMain(suite{m}, leakOfTheirs)
}

type suite struct{ m *testing.M }

func (s suite) Run() int {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.UseDevMode(true)))
	code, err := s.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func (s suite) run() (int, error) {
	ctx := context.Background()
	var err error
	if server, err = devserver.Start(ctx, devserver.Options{BuiltInKinds: true}); err != nil {
		return 0, err
	}
	if err := createFixtures(ctx, server.Config()); err != nil {
		return 0, err
	}
	code := s.m.Run()
	return code, server.Close()
}

// createFixtures creates namespaces one, two and three with Pods, and a Node.
func createFixtures(ctx context.Context, config *rest.Config) error {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	var objs []client.Object
	for _, namespace := range []string{"one", "two", "three"} {
		objs = append(objs, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"number": namespace}}})
	}
	objs = append(objs,
		pod("one", "web-1", "web", corev1.RestartPolicyNever),
		pod("two", "web-2", "web", corev1.RestartPolicyAlways),
		pod("two", "db-3", "db", corev1.RestartPolicyOnFailure),
		pod("three", "web-2", "web", corev1.RestartPolicyNever),
		pod("three", "db-5", "", corev1.RestartPolicyOnFailure),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"app": "web"}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-2", Labels: map[string]string{"app": "db"}}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "settings"}, Data: map[string]string{"a": "1"}},
	)
	for _, obj := range objs {
		if err := c.Create(ctx, obj); err != nil {
			return fmt.Errorf("create %T %s: %w", obj, obj.GetName(), err)
		}
	}
	return nil
}

func pod(namespace, name, app string, restart corev1.RestartPolicy) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: restart,
			Containers:    []corev1.Container{{Name: "main", Image: "registry.example/main"}},
		},
	}
	if app != "" {
		p.Labels = map[string]string{"app": app}
	}
	return p
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}
