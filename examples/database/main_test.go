// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
	"github.com/informer-gen/informer-gen/examples/database/api/v1beta1"
	"github.com/informer-gen/informer-gen/examples/database/databases"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/rbactest"
)

const roleFile = "config/rbac/role.yaml"

func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Background())
	devservertest.VerifyTestMain(m)
}

// TestOperator runs the operator against an API server that authorizes each of its requests by
// config/rbac/role.yaml, and compares the role with these requests. This command writes the role:
//
//	go tool informer-gen rbac --write config/rbac/role.yaml -- go test -run TestOperator .
func TestOperator(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	api := devservertest.Start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true, RBAC: true})
	installed := devservertest.InstallWebhooks(t, api, "config/crd", "config/webhook")
	user := newUser(ctx, t, api.Config())
	var requests rbactest.Recorder
	config := requests.Config(user.account(ctx))
	user.interrupt(ctx, config)
	var attempts atomic.Int32
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodDelete || req.URL.Path != "/default/orders" {
			t.Errorf("the store of the backups gets %s %s", req.Method, req.URL)
		}
		if attempts.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer store.Close()
	server := webhook.Options{Host: installed.Host, Port: installed.Port, CertDir: installed.CertDir}
	metrics, stop := start(t, config, server, &backups{url: store.URL})

	// The old version is converted, in both directions, and has defaults.
	old := &v1beta1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "orders"}}
	old.Spec.Replicas, old.Spec.BackupSchedule = 2, "0 3 * * *"
	user.must(user.Create(ctx, old))
	db := &v1.Database{}
	user.must(user.Get(ctx, client.ObjectKeyFromObject(old), db))
	if s := db.Spec; s.Version != "17" || s.Storage.String() != "1Gi" || s.Replicas != 2 || s.Backup == nil || s.Backup.Schedule != "0 3 * * *" {
		t.Errorf("as v1 the spec is %+v", db.Spec)
	}
	user.must(user.Get(ctx, client.ObjectKeyFromObject(old), old))
	if old.Spec.Version != "17" || old.Spec.BackupSchedule != "0 3 * * *" {
		t.Errorf("as v1beta1 the spec is %+v", old.Spec)
	}
	user.wantRefusal(user.patch(ctx, `{"spec":{"storage":"2Gi"}}`), "spec.storage: Forbidden: it can't be changed from 1Gi")
	wrong := &v1beta1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "wrong"}}
	wrong.Spec.BackupSchedule = "often"
	user.wantRefusal(user.Create(ctx, wrong), `spec.backup.schedule: Invalid value: "often": expected exactly 5 fields, found 1: [often]`)

	// It has five objects, and becomes ready with its Pods.
	db = user.await(ctx, v1.ReasonProgressing)
	set, service, secret := &appsv1.StatefulSet{}, &corev1.Service{}, &corev1.Secret{}
	cronJob, budget := &batchv1.CronJob{}, &policyv1.PodDisruptionBudget{}
	for name, children := range map[string][]client.Object{
		"orders": {set, service, budget}, "orders-password": {secret}, "orders-backup": {cronJob},
	} {
		for _, child := range children {
			user.must(user.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, child))
			if !metav1.IsControlledBy(child, db) {
				t.Errorf("the owners of %T are %v", child, child.GetOwnerReferences())
			}
		}
	}
	user.setReady(ctx, set)
	user.await(ctx, v1.ReasonAvailable)

	// Fewer replicas and no backups need fewer objects.
	user.must(user.patch(ctx, `{"spec":{"replicas":1,"backup":null}}`))
	user.await(ctx, v1.ReasonProgressing)
	user.must(user.Get(ctx, client.ObjectKeyFromObject(set), set))
	if *set.Spec.Replicas != 1 {
		t.Errorf("the StatefulSet has %d replicas, want 1", *set.Spec.Replicas)
	}
	for _, child := range []client.Object{cronJob, budget} {
		if err := user.Get(ctx, client.ObjectKeyFromObject(child), child); !apierrors.IsNotFound(err) {
			t.Errorf("%T is still there (%v)", child, err)
		}
	}
	before := secret.Data["password"]
	user.must(user.Get(ctx, client.ObjectKeyFromObject(secret), secret))
	if string(secret.Data["password"]) != string(before) || len(before) == 0 {
		t.Error("the password has changed, or is empty")
	}

	user.setReady(ctx, set)
	user.await(ctx, v1.ReasonAvailable)
	got := metrics()
	for _, want := range []string{
		`controller_runtime_reconcile_total{controller="databases",result="success"} `,
		`controller_runtime_webhook_requests_total{code="200",webhook="/validate-db-example-com-v1-database"} `,
		`rest_client_requests_total{`,
		`go_goroutines `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics lack %s:\n%s", want, got)
		}
	}

	// The Database goes after its backups, whose store fails twice, and its objects follow.
	user.must(user.Delete(ctx, db))
	user.await(ctx, gone)
	if n := attempts.Load(); n != 3 {
		t.Errorf("the store of the backups got %d requests, want 3", n)
	}
	eventually(t, func() error {
		if err := user.Get(ctx, client.ObjectKeyFromObject(set), set); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the StatefulSet is still there (%v)", err)
		}
		return nil
	})
	stop()
	if got, want := fmt.Sprint(user.events(ctx)), "map[Available:2 DropFailed:2 Dropped:1 Progressing:2]"; got != want {
		t.Errorf("the Events are %s, want %s", got, want)
	}
	requests.Check(t, roleFile)
}

// start runs the operator until it is ready. metrics asks it for its metrics, stop ends it.
func start(t *testing.T, config *rest.Config, server webhook.Options, store *backups) (metrics func() string, stop func()) {
	t.Helper()
	o, err := newOptions(config, server, store)
	if err != nil {
		t.Fatal(err)
	}
	if o.Election, err = election.New(config, election.Options{Namespace: "default", Name: databases.Name}); err != nil {
		t.Fatal(err)
	}
	m, err := manager.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run() = %v, want %v", err, context.Canceled)
		}
	})
	t.Cleanup(stop)
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	eventually(t, func() error {
		if code, text := get("/readyz"); code != http.StatusOK {
			return errors.New(text)
		}
		return nil
	})
	return func() string { _, text := get("/metrics"); return text }, stop
}

// user is an administrator, who also plays the other controllers of a cluster.
type user struct {
	client.Client
	t         *testing.T
	config    *rest.Config
	databases *informer.SharedIndexInformer[*v1.Database]
}

func newUser(ctx context.Context, t *testing.T, config *rest.Config) *user {
	t.Helper()
	u := &user{t: t, config: config}
	all, err := newScheme()
	u.must(errors.Join(err, scheme.AddToScheme(all)))
	u.Client, err = client.New(config, client.Options{Scheme: all})
	u.must(err)
	cached, err := source.NewClient(config)
	u.must(err)
	factory := databases.NewFactory(cached)
	u.databases = factory.Db().V1().Databases().Informer()
	u.must(factory.Start(ctx))
	t.Cleanup(func() {
		if err := factory.Shutdown(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
	return u
}

func (u *user) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) wantRefusal(err error, reason string) {
	u.t.Helper()
	want := `admission webhook "vdatabase-v1.example.com" denied the request: ` + reason
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		u.t.Errorf("the write returns\n%v, want\n%s", err, want)
	}
}

// account makes a service account with the operator's role, and returns its configuration. While
// informer-gen rbac finds out what the role should be, everything is allowed.
func (u *user) account(ctx context.Context) *rest.Config {
	u.t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "cluster-admin"}}
	if os.Getenv("INFORMER_GEN_RBAC") == "" {
		text, err := os.ReadFile(roleFile)
		u.must(err)
		u.must(yaml.Unmarshal(text, role))
		u.must(u.Create(ctx, role))
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: databases.Name}}
	u.must(u.Create(ctx, account))
	u.must(u.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: databases.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}))
	token := &authenticationv1.TokenRequest{}
	u.must(u.SubResource("token").Create(ctx, account, token))
	config := rest.CopyConfig(u.config)
	config.BearerToken = token.Status.Token
	return config
}

const gone = "gone"

// await waits until the Database is Ready, or not, for a reason in its present generation.
func (u *user) await(ctx context.Context, reason string) *v1.Database {
	u.t.Helper()
	db := &v1.Database{}
	err := u.databases.Until(ctx, func(all *store.Snapshot[*v1.Database]) (bool, error) {
		found, ok := all.Get(object.Key{Namespace: "default", Name: "orders"})
		if !ok {
			return reason == gone, nil
		}
		db = found.DeepCopy()
		ready := apimeta.FindStatusCondition(db.Status.Conditions, v1.Ready)
		if ready != nil && ready.Reason == v1.ReasonFailed {
			return false, errors.New(ready.Message)
		}
		return ready != nil && ready.Reason == reason && ready.ObservedGeneration == db.Generation, nil
	})
	if err != nil {
		u.t.Fatalf("waiting for %s: %v; its status is %+v", reason, err, db.Status)
	}
	return db
}

// patch changes the Database by a merge patch.
func (u *user) patch(ctx context.Context, patch string) error {
	db := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "orders"}}
	return u.Patch(ctx, db, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// setReady plays the StatefulSet's controller.
func (u *user) setReady(ctx context.Context, set *appsv1.StatefulSet) {
	u.t.Helper()
	n := *set.Spec.Replicas
	set.Status = appsv1.StatefulSetStatus{ObservedGeneration: set.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n}
	u.must(u.Status().Update(ctx, set))
}

// events returns the Events about the Database: the number of each reason.
func (u *user) events(ctx context.Context) map[string]int {
	u.t.Helper()
	all, count := &eventsv1.EventList{}, map[string]int{}
	u.must(u.List(ctx, all, client.InNamespace("default")))
	for _, e := range all.Items {
		if e.Regarding.Kind != "Database" || e.Regarding.Name != "orders" {
			continue
		}
		n := 1
		if e.Series != nil {
			n = int(e.Series.Count)
		}
		count[e.Reason] += n
	}
	return count
}

// interrupt makes the user write the Database just before the program with this configuration
// writes its status for the first time, so that it has a conflict.
func (u *user) interrupt(ctx context.Context, config *rest.Config) {
	var once sync.Once
	write := func() {
		if err := u.patch(ctx, `{"metadata":{"annotations":{"team":"blue"}}}`); err != nil {
			u.t.Error(err)
		}
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodPut && strings.HasSuffix(req.URL.Path, "/databases/orders/status") {
				once.Do(write)
			}
			return next.RoundTrip(req)
		})
	})
}

type roundTrip func(req *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// eventually calls f until it returns nil.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBECONFIG", kubeconfig)
	if err := run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), kubeconfig) {
		t.Errorf("without the file of KUBECONFIG: %v", err)
	}
	const cluster = `{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
		"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(cluster), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--help":                            pflag.ErrHelp.Error(),
		"--bogus":                           "unknown flag: --bogus",
		"--controllers=tables":              `no controller is called "tables"; there are databases, webhooks`,
		"--leader-elect-lease-duration=1ms": "LeaseDuration is 1ms",
	} {
		if err := run(t.Context(), []string{args}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", args, err, want)
		}
	}
}
