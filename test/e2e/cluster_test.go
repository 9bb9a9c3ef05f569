// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/devserver/control"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// cluster is an API server in a child process, with a client that uses none of our code.
type cluster struct {
	child     *control.Process // replaced by restart
	url       string
	dir       string // of its data; "" for a temporary one
	flags     []string
	dynamic   dynamic.Interface
	transport *http.Transport // of dynamic
}

// startCluster starts a server with the CRDs of testdata/crds and of examples/crd-sample. An empty
// dir is a temporary one.
func startCluster(ctx context.Context, dir string, flags ...string) (*cluster, error) {
	c := &cluster{dir: dir, flags: append([]string{
		"--control", "--crds", filepath.Join("testdata", "crds"), "--crds", filepath.Join("..", "..", "examples", "crd-sample", "config", "crd"),
	}, flags...)}
	if dir != "" {
		c.flags = append(c.flags, "--data-dir", dir)
	}
	if err := c.start(ctx, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	c.transport = &http.Transport{}
	var err error
	c.dynamic, err = dynamic.NewForConfig(&rest.Config{Host: c.url, QPS: -1, Transport: c.transport})
	return c, err
}

func (c *cluster) start(ctx context.Context, addr string) error {
	cmd := exec.Command(binary, append(c.flags, "--addr", addr)...)
	cmd.Stderr = os.Stderr
	child, err := control.Start(ctx, cmd)
	if err != nil {
		return err
	}
	c.child, c.url = child, child.URL()
	return nil
}

func (c *cluster) stop(ctx context.Context) error {
	c.transport.CloseIdleConnections()
	return c.child.Quit(ctx)
}

// newCluster starts a server for one test. Its data survive a restart.
func newCluster(t *testing.T, flags ...string) *cluster {
	t.Helper()
	c, err := startCluster(deadline(t), t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
		defer cancel()
		if err := c.stop(ctx); err != nil && !killed(err) {
			t.Errorf("stop the server: %v", err)
		}
	})
	return c
}

// startAgain starts a stopped or killed server again, in the same folder and at the same address.
func (c *cluster) startAgain(t *testing.T) {
	t.Helper()
	addr, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	// Another process's connection may hold the port for a moment.
	poll.Until(t, func() error { return c.start(deadline(t), addr.Host) })
}

func killed(err error) bool {
	exit, ok := err.(*exec.ExitError)
	return ok && !exit.Exited()
}

// deadline returns a context that ends shortly before go test's own timeout. So the test can still
// report the failed wait.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), poll.Left(t))
	t.Cleanup(cancel)
	return ctx
}

// connect makes a client. Its connections are closed when the test ends.
func connect(t *testing.T, url string) *source.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := source.NewClient(&rest.Config{Host: url, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// collection is one namespace of a resource, or all of a cluster-scoped resource.
type collection struct {
	cluster   *cluster
	gvr       schema.GroupVersionResource
	namespace string
}

// crates returns the Crates of a new namespace.
func (c *cluster) crates(t *testing.T) collection {
	return collection{c, crates, dnsName(t)}
}

func (i collection) client() dynamic.ResourceInterface {
	return i.cluster.dynamic.Resource(i.gvr).Namespace(i.namespace)
}

// crate returns a Crate with a name.
func crate(name string, change ...func(*Crate)) *Crate {
	c := &Crate{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, f := range change {
		f(c)
	}
	return c
}

// create creates obj; its kind is the name of its Go type. A cluster-scoped object is deleted when
// the test ends.
func (i collection) create(t *testing.T, obj object.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion(i.gvr.GroupVersion().String())
	u.SetKind(reflect.TypeOf(obj).Elem().Name())
	u, err = i.client().Create(deadline(t), u, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create %s: %v", obj.GetName(), err)
	}
	if i.namespace == "" {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
			defer cancel()
			if err := i.client().Delete(ctx, obj.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("delete %s: %v", obj.GetName(), err)
			}
		})
	}
	return u
}

// createMany creates crate-000, crate-001 and so on.
func (i collection) createMany(t *testing.T, n int, change ...func(*Crate, int)) {
	t.Helper()
	for k := range n {
		c := crate(fmt.Sprintf("crate-%03d", k))
		for _, f := range change {
			f(c, k)
		}
		i.create(t, c)
	}
}

// patch applies a merge patch to an object.
func (i collection) patch(t *testing.T, name, patch string) *unstructured.Unstructured {
	t.Helper()
	u, err := i.client().Patch(deadline(t), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("patch %s: %v", name, err)
	}
	return u
}

// setWeight sets the weight of a Crate.
func (i collection) setWeight(t *testing.T, name string, weight int64) *unstructured.Unstructured {
	t.Helper()
	return i.patch(t, name, fmt.Sprintf(`{"spec":{"weight":%d}}`, weight))
}

func (i collection) delete(t *testing.T, name string) {
	t.Helper()
	if err := i.client().Delete(deadline(t), name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("delete %s: %v", name, err)
	}
}

// state maps the keys of existing objects to "uid@resourceVersion".
type state map[object.Key]string

func (s state) put(obj metav1.Object) {
	s[object.KeyOf(obj)] = fmt.Sprintf("%s@%s", obj.GetUID(), obj.GetResourceVersion())
}

// state lists the collection at the server.
func (i collection) state(t *testing.T, opts ...metav1.ListOptions) state {
	t.Helper()
	var opt metav1.ListOptions
	if len(opts) > 0 {
		opt = opts[0]
	}
	list, err := i.client().List(deadline(t), opt)
	if err != nil {
		t.Fatal(err)
	}
	s := state{}
	for n := range list.Items {
		s.put(&list.Items[n])
	}
	return s
}

// settle waits until the server's watch cache has all writes. A list read after that lacks deleted
// objects. A list read earlier may still have them, and their deletions come as events.
func (i collection) settle(t *testing.T) {
	t.Helper()
	list, err := i.client().List(deadline(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cached := metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	if _, err := i.client().List(deadline(t), cached); err != nil {
		t.Fatal(err)
	}
}

// installLater installs the CRD of testdata/later.
func (c *cluster) installLater(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "later", "crates.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &crd.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := c.dynamic.Resource(crds).Create(deadline(t), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// createSoon creates a crate of the CRD installed by installLater. It tries until the server
// accepts creates, a moment later than lists.
func (i collection) createSoon(t *testing.T, name string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(i.gvr.GroupVersion().String())
	u.SetKind("Crate")
	u.SetName(name)
	poll.Until(t, func() error {
		_, err := i.client().Create(deadline(t), u, metav1.CreateOptions{})
		return err
	})
}
