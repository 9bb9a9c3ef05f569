// SPDX-License-Identifier: Apache-2.0

package tutorial

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// program is devserver, and the program that it runs.
type program struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when all of it has ended

	mu     sync.Mutex
	output strings.Builder
	ready  chan struct{} // closed when the server is ready
}

// start starts a command, and waits until it says that the server is ready.
func start(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{cmd: cmd, ended: make(chan struct{}), ready: make(chan struct{})}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to interrupt all processes
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.read(out)
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil { // the test has failed before it ended the program
			p.interrupt()
			<-p.ended
			_ = cmd.Wait()
		}
	})
	select {
	case <-p.ready:
	case <-p.ended:
		t.Fatalf("%v: the program has ended early:\n%s", cmd, p.said())
	}
	return p
}

// read reads until all processes have closed the pipe.
func (p *program) read(out io.Reader) {
	for lines, ready := bufio.NewScanner(out), false; lines.Scan(); {
		p.mu.Lock()
		p.output.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		if !ready && strings.Contains(lines.Text(), " ready at ") {
			ready = true
			close(p.ready)
		}
	}
}

func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

func (p *program) interrupt() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT) }

// end interrupts the program, as Ctrl-C does, and waits for its end.
func (p *program) end(t *testing.T) {
	t.Helper()
	if p == nil {
		t.Fatal("docs/tutorial.md doesn't start the program")
	}
	p.interrupt()
	<-p.ended
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("after an interrupt, the program ended with %v:\n%s", err, p.said())
	}
	if !strings.Contains(p.said(), "locked the door of team blue") {
		t.Errorf("the program didn't lock the door:\n%s", p.said())
	}
}

// clients returns functions that do what commands of the page do, by their command lines.
func (p *project) clients() map[string]func() {
	var teams, desks dynamic.ResourceInterface
	list := func() ([]unstructured.Unstructured, error) {
		all, err := desks.List(p.t.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return all.Items, nil
	}
	return map[string]func(){
		"export KUBECONFIG=kubeconfig": func() {
			config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.dir, "kubeconfig"))
			if err != nil {
				p.t.Fatal(err)
			}
			client, err := dynamic.NewForConfigAndClient(config, p.http)
			if err != nil {
				p.t.Fatal(err)
			}
			teams = client.Resource(schema.GroupVersionResource{Group: "tutorial.example.com", Version: "v1", Resource: "teams"}).Namespace("default")
			desks = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
		},
		"kubectl create -f team.yaml": func() {
			text, err := os.ReadFile(filepath.Join(p.dir, "team.yaml"))
			if err != nil {
				p.t.Fatal(err)
			}
			team := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict(text, &team.Object); err != nil {
				p.t.Fatal(err)
			}
			if _, err := teams.Create(p.t.Context(), team, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
				p.t.Fatal(err)
			}
		},
		"kubectl wait team/blue --for=jsonpath='{.status.desks}'=2": func() {
			poll.Until(p.t, func() error {
				team, err := teams.Get(p.t.Context(), "blue", metav1.GetOptions{})
				if err != nil {
					return err
				}
				if n, _, err := unstructured.NestedInt64(team.Object, "status", "desks"); n != 2 || err != nil {
					return fmt.Errorf("the status has %d desks (%v), want 2; the program said:\n%s", n, err, p.program.said())
				}
				return nil
			})
		},
		"kubectl get configmaps": func() {
			all, err := list()
			if err != nil {
				p.t.Fatal(err)
			}
			names := ""
			for _, desk := range all {
				names += desk.GetName() + " "
			}
			if want := "desk-blue-ann desk-blue-bob "; names != want {
				p.t.Errorf("the desks are %q, want %q", names, want)
			}
		},
		"kubectl delete team/blue": func() {
			if err := teams.Delete(p.t.Context(), "blue", metav1.DeleteOptions{}); err != nil {
				p.t.Fatal(err)
			}
			poll.Until(p.t, func() error {
				if _, err := teams.Get(p.t.Context(), "blue", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					return fmt.Errorf("after its deletion, the error of the Team is %v, want NotFound; the program said:\n%s", err, p.program.said())
				}
				all, err := list()
				if err == nil && len(all) > 0 {
					err = fmt.Errorf("%d desks are left after the Team", len(all))
				}
				return err
			})
		},
		"curl --fail localhost:8080/healthz":         func() { p.get("/healthz") },
		"curl --fail localhost:8080/readyz":          func() { p.get("/readyz") },
		"curl --fail localhost:8080/debug/informers": func() { p.get("/debug/informers") },
	}
}

// get gets a page of the manager.
func (p *project) get(path string) {
	p.t.Helper()
	resp, err := p.http.Get("http://" + p.address + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || err != nil {
		p.t.Errorf("%s answers %s, %v:\n%s", path, resp.Status, err, body)
	}
}
