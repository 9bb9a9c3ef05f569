// SPDX-License-Identifier: Apache-2.0

// Devserver runs a real Kubernetes API server for custom resources, with its storage, in one
// process.
//
//	devserver --crds config/crd --kubeconfig /tmp/dev.kubeconfig
//	kubectl --kubeconfig /tmp/dev.kubeconfig api-resources
//
// With --built-in-kinds it also serves Pods, Deployments and other kinds, and kubectl's usual
// commands work:
//
//	devserver --built-in-kinds --collect-garbage --kubeconfig /tmp/dev.kubeconfig
//	kubectl --kubeconfig /tmp/dev.kubeconfig create namespace shop
//
// Without --kubeconfig the kubeconfig goes to stdout once the server is ready. The command ends on
// SIGINT and SIGTERM. With --control another program drives it; see the package control.
//
// Arguments after -- are a command to run beside the server, with KUBECONFIG set:
//
//	devserver --crds config/crd -- kubectl apply -f config/samples
//
// When it ends, so does the server, and devserver exits with its code: 128 plus the signal's number
// if a signal ended it, 1 if it could not be started. It reads nothing from stdin. SIGINT and
// SIGTERM reach it as SIGINT; if it has not ended after half a minute, it is killed. Without
// --kubeconfig its kubeconfig is a temporary file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/control"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		// the package's name is ours
		fmt.Fprintln(os.Stderr, "devserver:", strings.TrimPrefix(err.Error(), "devserver: "))
		stop()
		var child ended
		if errors.As(err, &child) {
			os.Exit(child.code)
		}
		os.Exit(1)
	}
}

type flags struct {
	addr, dataDir, kubeconfig string
	crds                      []string
	builtIn, rbac             bool
	collectGarbage            bool
	noWatchCache              bool
	featureGates              string
	minRequestTimeout         time.Duration
	compactInterval           time.Duration
	control, verbose          bool
}

func command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "devserver [flags] [-- COMMAND [ARGUMENTS]]",
		Short: "Run a real Kubernetes API server for custom resources in one process",
		Long: `Devserver runs a real Kubernetes API server for custom resources, with its storage, in one process, until it is
interrupted.

A COMMAND is run with KUBECONFIG set once the server is ready. The server ends with it, and devserver has its exit code.
COMMAND reads nothing from stdin. An interrupt is passed on to it, and half a minute later it is killed.`,
		Example: `  devserver --crds config/crd --kubeconfig dev.kubeconfig
  devserver --crds config/crd -- kubectl apply -f config/samples`,
		Args:          onlyCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), f, args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	p := cmd.Flags()
	p.SortFlags = false
	p.StringVar(&f.addr, "addr", "127.0.0.1:0", "`host:port` to serve plain HTTP on; port 0 is a free one. Whoever reaches it is an administrator")
	p.StringVar(&f.dataDir, "data-dir", "", "`folder` of the data; kept (default: a temporary one, removed at the end)")
	p.StringArrayVar(&f.crds, "crds", nil, "`file or folder` with CRDs in YAML to install; may be repeated")
	p.BoolVar(&f.builtIn, "built-in-kinds", false, "serve kinds that Kubernetes has built in too, and call admission webhooks; objects need namespaces that are there")
	p.BoolVar(&f.rbac, "rbac", false, "authorize by the roles and bindings that are stored; clients without a token are administrators (needs --built-in-kinds)")
	p.BoolVar(&f.collectGarbage, "collect-garbage", false, "delete objects whose owners are gone, and finish deletions in the foreground and those that orphan, as a cluster does")
	p.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` to write the kubeconfig to (default: stdout; with a COMMAND, a temporary one)")
	p.BoolVar(&f.noWatchCache, "no-watch-cache", false, "answer each list and watch from etcd, so that a compaction makes old watches fail with 410")
	p.StringVar(&f.featureGates, "feature-gates", "", "`gates` of the API server to switch, as in Name=true,Name=false")
	p.DurationVar(&f.minRequestTimeout, "min-request-timeout", 0, "end watches at a random time between this and twice this (default 30m)")
	p.DurationVar(&f.compactInterval, "compact-interval", 0, "forget all history this often (default: never)")
	p.BoolVar(&f.control, "control", false, "take commands from stdin, answer on stdout, end when stdin ends")
	p.BoolVar(&f.verbose, "verbose", false, "log what the API server and etcd log to stderr")
	return cmd
}

func onlyCommand(cmd *cobra.Command, args []string) error {
	switch dash := cmd.ArgsLenAtDash(); {
	case len(args) > 0 && dash != 0:
		return fmt.Errorf("unexpected argument %q; a command to run stands after --", args[0])
	case len(args) == 0 && dash == 0:
		return errors.New("no command follows --")
	}
	return nil
}

func run(ctx context.Context, f flags, command []string, in io.Reader, out, errOut io.Writer) (err error) {
	if len(command) > 0 {
		if f.control {
			return fmt.Errorf("--control: the server can't be controlled while it runs %s", command[0])
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			return fmt.Errorf("run %s: %w", command[0], err)
		}
	}
	if f.compactInterval < 0 {
		return fmt.Errorf("--compact-interval %v is negative", f.compactInterval)
	}
	if err := utilfeature.DefaultMutableFeatureGate.Set(f.featureGates); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	crds, err := readCRDs(f.crds)
	if err != nil {
		return err
	}
	opts := devserver.Options{
		Addr:              f.addr,
		Dir:               f.dataDir,
		CRDs:              crds,
		BuiltInKinds:      f.builtIn,
		RBAC:              f.rbac,
		CollectGarbage:    f.collectGarbage,
		DisableWatchCache: f.noWatchCache,
		MinRequestTimeout: f.minRequestTimeout,
	}
	if f.verbose {
		opts.LogOutput = errOut
	}
	serving := ctx
	if len(command) > 0 { // the command ends before the server, which it may need to clean up
		serving = context.WithoutCancel(ctx)
	}
	server, err := devserver.Start(serving, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()

	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		return err
	}
	if f.kubeconfig == "" && len(command) > 0 {
		folder, err := os.MkdirTemp("", "devserver-")
		if err != nil {
			return fmt.Errorf("make a folder for the kubeconfig: %w", err)
		}
		defer os.RemoveAll(folder)
		f.kubeconfig = filepath.Join(folder, "kubeconfig")
	}
	if f.kubeconfig != "" {
		if err := writeKubeconfig(f.kubeconfig, kubeconfig); err != nil {
			return err
		}
	} else if !f.control {
		if _, err := out.Write(kubeconfig); err != nil {
			return fmt.Errorf("print the kubeconfig: %w", err)
		}
	}
	if f.compactInterval > 0 {
		compactions, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			compactEvery(compactions, f.compactInterval, server, errOut)
		}()
		defer func() { cancel(); <-ended }()
	}
	if f.control {
		return control.Serve(ctx, server, in, out)
	}
	fmt.Fprintf(errOut, "devserver: %d CRDs installed, ready at %s, data in %s\n", len(crds), server.URL(), server.Dir())
	if len(command) > 0 {
		return runCommand(ctx, command, f.kubeconfig, out, errOut)
	}
	<-server.Done()
	return nil // server.Close returns the cause
}

func readCRDs(paths []string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("--crds %s: %w", path, err)
		}
		found, err := devserver.ReadCRDs(os.DirFS(filepath.Dir(abs)), filepath.Base(abs))
		if err != nil {
			return nil, fmt.Errorf("--crds %s: %w", path, err)
		}
		crds = append(crds, found...)
	}
	return crds, nil
}

// writeKubeconfig writes to path, following links. A file is replaced; a device or a pipe gets the
// text.
func writeKubeconfig(path string, text []byte) error {
	file := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		file = target
	}
	write := replaceFile
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		write = func(file string, text []byte) error { return os.WriteFile(file, text, 0o600) }
	}
	if err := write(file, text); err != nil {
		return fmt.Errorf("--kubeconfig %s: %w", path, err)
	}
	return nil
}

// replaceFile replaces a file in one step, so that a program waiting for it never reads half of it.
func replaceFile(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

func compactEvery(ctx context.Context, interval time.Duration, server *devserver.Server, errOut io.Writer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-server.Done():
			return
		case <-time.After(interval):
		}
		if _, err := server.Compact(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(errOut, err)
		}
	}
}
