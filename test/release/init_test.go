// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/test/internal/address"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestInit makes a program in an empty folder: it runs the commands of README.md, which lead to
// informer-gen init --controller, then the commands that init prints, and then the program.
func TestInit(t *testing.T) {
	p := newProject(t, "")
	_, commands, _ := strings.Cut(page(t, "README.md"), "\n```\ngo mod init ")
	commands, _, found := strings.Cut("go mod init "+commands, "\n```")
	if !found {
		t.Fatal("README.md lacks commands that begin with go mod init")
	}
	said := ""
	for line := range strings.Lines(commands) {
		said = p.runLine(line)
	}

	_, next, _ := strings.Cut(said, "\nNext:\n")
	next, _, _ = strings.Cut(next, "\n\n")
	steps := strings.Split(next, "\n")
	last := len(steps) - 1 // runs until it is interrupted
	if last < 3 || !strings.Contains(steps[last], "go tool devserver ") {
		t.Fatalf("informer-gen init prints\n%s", said)
	}
	for _, step := range steps[:last] {
		p.runLine(step)
	}
	p.run("go", "vet", "./...")
	p.run("go", "tool", "informer-gen", "diff")
	checkKustomization(t, filepath.Join(p.dir, "config/default"))

	// The last step, with programs that get signals.
	own, _, _ := strings.Cut(steps[last], " -- ")
	args := strings.Fields(own)[3:] // behind go tool devserver
	devserver, program := filepath.Join(p.dir, "devserver"), filepath.Join(p.dir, "program")
	p.run("go", "build", "-o", devserver, rootPath+"/devserver/cmd/devserver")
	p.run("go", "build", "-o", program, "./cmd")
	at := address.Reserve(t)
	kubeconfig := filepath.Join(p.dir, "kubeconfig")
	p.runProgram(func() { checkProgram(t, "http://"+at, kubeconfig) }, devserver, append(args, "--kubeconfig", kubeconfig,
		"--", program, "--address", at, "--leader-elect", "-v=2", "--logging-format=json")...)

	help := exec.Command(program, "--help")
	if out, err := help.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--leader-elect ")) {
		t.Errorf("%v: %v\n%s", help, err, out)
	}
	wrong := exec.Command(program, "--kubeconfig", filepath.Join(p.dir, "none"))
	var exit *exec.ExitError
	if out, err := wrong.CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !bytes.Contains(out, []byte("none: no such file")) {
		t.Errorf("%v: %v\n%s", wrong, err, out)
	}
}

// runLine runs a printed command in the project's folder and returns its output.
func (p project) runLine(line string) string {
	p.t.Helper()
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	return p.run(fields[0], fields[1:]...)
}

// runProgram runs a program that serves until it is interrupted, and calls check meanwhile. The
// interrupt must end it without an error.
func (p project) runProgram(check func(), name string, args ...string) {
	p.t.Helper()
	command := exec.Command(name, args...)
	command.Dir, command.Env = p.dir, p.env
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM) // devserver passes it on
		if err := command.Wait(); err != nil || p.t.Failed() {
			p.t.Errorf("%v ended with %v and printed\n%s", command, err, &output)
		}
	})
	check()
}

// checkProgram checks the program's health and metrics, and that it writes an object's status.
func checkProgram(t *testing.T, url, kubeconfig string) {
	t.Helper()
	for _, path := range []string{"/readyz", "/healthz"} {
		poll.Until(t, func() error { _, err := get(url + path); return err })
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "widgets"}).Namespace("default")
	var sample unstructured.Unstructured
	readYAML(t, filepath.Join(filepath.Dir(kubeconfig), "config/samples/widget.yaml"), &sample.Object)
	if _, err := widgets.Create(t.Context(), &sample, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, func() error {
		widget, err := widgets.Get(t.Context(), sample.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if seen, _, _ := unstructured.NestedInt64(widget.Object, "status", "observedGeneration"); seen != widget.GetGeneration() {
			return fmt.Errorf("the object is %v; want the generation %d observed", widget, widget.GetGeneration())
		}
		return nil
	})
	metrics, err := get(url + "/metrics")
	for _, want := range []string{
		`controller_runtime_reconcile_total{controller="widget",result="success"}`,
		`leader_election_master_status{name="shop"} 1`,
	} {
		if err != nil || !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s (%v):\n%s", want, err, metrics)
		}
	}
}

// get returns the body of a response with status 200.
func get(url string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, resp.Status, body)
	}
	return string(body), err
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// checkKustomization builds a kustomization, decodes its objects strictly, and checks that they fit
// each other.
func checkKustomization(t *testing.T, folder string) {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var (
		namespace   corev1.Namespace
		account     corev1.ServiceAccount
		deployment  appsv1.Deployment
		clusterRole rbacv1.ClusterRole
		role        rbacv1.Role
		binding     rbacv1.ClusterRoleBinding
		leases      rbacv1.RoleBinding
		definition  apiextensionsv1.CustomResourceDefinition
	)
	objects := map[string]any{
		"Namespace": &namespace, "ServiceAccount": &account, "Deployment": &deployment, "ClusterRole": &clusterRole, "Role": &role,
		"ClusterRoleBinding": &binding, "RoleBinding": &leases, "CustomResourceDefinition": &definition,
	}
	for _, object := range built.Resources() {
		text, err := object.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		into := objects[object.GetKind()]
		if into == nil {
			t.Fatalf("unexpected, or twice:\n%s", text)
		}
		delete(objects, object.GetKind())
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	if len(objects) > 0 {
		t.Errorf("these are missing: %v", objects)
	}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "shop-system", Name: account.Name}}
	pod := deployment.Spec.Template.Spec
	for name, ok := range map[string]bool{
		"namespaces":   namespace.Name == "shop-system" && account.Namespace == namespace.Name && deployment.Namespace == namespace.Name && role.Namespace == namespace.Name,
		"cluster role": binding.RoleRef.Name == clusterRole.Name && slices.Equal(binding.Subjects, subjects),
		"role":         leases.RoleRef.Name == role.Name && slices.Equal(leases.Subjects, subjects),
		"deployment":   pod.ServiceAccountName == account.Name && len(pod.Containers) == 1 && pod.Containers[0].Image == "shop:latest",
		"definition":   definition.Name == "widgets.shop.example.com",
	} {
		if !ok {
			t.Errorf("wrong %s in\n%+v", name, built)
		}
	}
	if _, err := built.AsYaml(); err != nil {
		t.Error(err)
	}
}
