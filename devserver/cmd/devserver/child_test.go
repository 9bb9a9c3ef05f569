// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// asChildOf is the first argument of the test binary when devserver runs it as a command. The
// second one is that of child.
const asChildOf = "as-child"

// child is the command that devserver runs, in one of several ways. It returns its exit code.
func child(does string) int {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	switch does {
	case "fail":
		return listBoats(7)
	case "wait":
		fmt.Println("waiting")
		<-interrupted
		return listBoats(3) // the server is still there
	case "pass": // as go run does: it leaves the interrupt to its own child
		cmd := exec.Command(os.Args[0], asChildOf, "wait")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return listBoats(0)
}

// listBoats lists boats at the server of KUBECONFIG, prints the file's name and the error, and
// returns code.
func listBoats(code int) int {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		var client *dynamic.DynamicClient
		if client, err = dynamic.NewForConfig(config); err == nil {
			_, err = client.Resource(schema.GroupVersionResource{Group: "harbour.example.com", Version: "v1", Resource: "boats"}).
				List(context.Background(), metav1.ListOptions{})
		}
	}
	fmt.Println(os.Getenv("KUBECONFIG"), err)
	return code
}

// exitCodeOf returns the exit code in an error of Wait.
func exitCodeOf(t *testing.T, err error) int {
	t.Helper()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		t.Fatal(err)
	}
	return exit.ExitCode()
}

// The command finds the server by KUBECONFIG, and its exit code is devserver's.
func TestCommand(t *testing.T) {
	t.Parallel()
	folder, _ := writeCRD(t)
	mine := filepath.Join(t.TempDir(), "kubeconfig")
	for _, test := range []struct {
		does  string
		flags []string
		code  int
	}{
		{"succeed", nil, 0},
		{"fail", []string{"--kubeconfig", mine}, 7},
		{"killed", nil, 128 + int(syscall.SIGKILL)},
	} {
		cmd := asChild(t, append(append([]string{"--crds", folder}, test.flags...), "--", os.Args[0], asChildOf, test.does)...)
		out, err := cmd.Output()
		if code := exitCodeOf(t, err); code != test.code {
			t.Errorf("%s: exit code %d, want %d", test.does, code, test.code)
		}
		if test.does == "killed" {
			continue
		}
		file, listed, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		if listed != "<nil>" || strings.Contains(listed, "\n") {
			t.Errorf("%s: the command printed %q", test.does, out)
		}
		_, err = os.Stat(file)
		switch {
		case len(test.flags) > 0 && (file != mine || err != nil):
			t.Errorf("%s: KUBECONFIG is %s, want %s; %v", test.does, file, mine, err)
		case len(test.flags) == 0 && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("%s: the temporary kubeconfig %s is left: %v", test.does, file, err)
		}
	}
}

// A signal to devserver alone ends the command and its children, and then the server.
func TestSignalEndsTheCommand(t *testing.T) {
	t.Parallel()
	folder, _ := writeCRD(t)
	for does, sig := range map[string]os.Signal{"wait": syscall.SIGTERM, "pass": os.Interrupt} {
		cmd := asChild(t, "--crds", folder, "--", os.Args[0], asChildOf, does)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		if !lines.Scan() || lines.Text() != "waiting" {
			t.Fatalf("%s: the command printed %q", does, lines.Text())
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.HasSuffix(lines.Text(), " <nil>") {
			t.Errorf("%s: at its end the command had from the server: %q", does, lines.Text())
		}
		if code := exitCodeOf(t, cmd.Wait()); code != 3 {
			t.Errorf("%s: exit code %d, want 3", does, code)
		}
	}
}
