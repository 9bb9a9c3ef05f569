// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/demo"
	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/relay"
	"github.com/informer-gen/informer-gen/internal/diag"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// errFailed marks errors that aren't about the configuration or the call.
var errFailed = errors.New("informer-relay has failed")

// run is the program without its process: signals and os.Exit. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := newCommand()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	var findings diag.List
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &findings):
		fmt.Fprintln(stderr, findings)
	default:
		fmt.Fprintln(stderr, "informer-relay:", err)
	}
	if errors.Is(err, errFailed) {
		return exitFailed
	}
	return exitUsage
}

type flags struct {
	config, kubeconfig, pprof string
	check, demo               bool
}

func newCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:           "informer-relay --config FILE",
		Short:         "Answer any number of lists and watches from one watch of each resource",
		Args:          cobra.NoArgs,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	p := cmd.Flags()
	p.SortFlags = false
	p.StringVar(&f.config, "config", "", "read the configuration from `FILE` (docs/relay.md)")
	p.StringVar(&f.kubeconfig, "kubeconfig", "", "reach the API server with `FILE` (default: the Pod's service account)")
	p.BoolVar(&f.check, "check-config", false, "check the configuration, print the resources it would serve, and exit")
	p.StringVar(&f.pprof, "pprof", "", "serve profiles at `ADDRESS`, a loopback address such as 127.0.0.1:6060")
	p.BoolVar(&f.demo, "demo", false, "run a demo: an API server, a relay in front of it, and informers; needs the go command")
	cmd.MarkFlagsOneRequired("config", "demo")
	cmd.MarkFlagsMutuallyExclusive("config", "demo")
	return cmd
}

func (f *flags) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if f.demo {
		return demo.Run(ctx, cmd.OutOrStdout())
	}
	if f.pprof != "" && !(configfile.Listen{Address: f.pprof}).Loopback() {
		return fmt.Errorf("--pprof: %s is not a loopback address, such as 127.0.0.1:6060; profiles show the contents of memory", f.pprof)
	}
	data, err := os.ReadFile(f.config)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	c, err := configfile.Parse(f.config, data)
	if err != nil {
		return err
	}
	if f.check {
		return c.Describe(cmd.OutOrStdout())
	}
	upstream, err := f.upstream()
	if err != nil {
		return err
	}
	upstream.UserAgent = "informer-relay/" + version()
	r, err := relay.New(c, upstream)
	if err != nil {
		return err
	}
	if err := f.serve(ctx, r, c.Listen); err != nil {
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	return nil
}

func (f *flags) serve(ctx context.Context, r *relay.Relay, listen configfile.Listen) error {
	if f.pprof != "" {
		profiles, err := net.Listen("tcp", f.pprof)
		if err != nil {
			return fmt.Errorf("--pprof: %w", err)
		}
		defer relay.ServeProfiles(profiles)()
		klog.FromContext(ctx).Info("Profiles are served", "address", profiles.Addr().String())
	}
	if listen.Probes != "" {
		probes, err := net.Listen("tcp", listen.Probes)
		if err != nil {
			return fmt.Errorf("listen.probes: %w", err)
		}
		defer r.ServeProbes(probes)()
		klog.FromContext(ctx).Info("Probes are answered", "address", probes.Addr().String())
	}
	l, err := net.Listen("tcp", listen.Address)
	if err != nil {
		return err
	}
	return r.Serve(ctx, l)
}

func (f *flags) upstream() (*rest.Config, error) {
	if f.kubeconfig == "" {
		c, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("%w; outside of a cluster, set --kubeconfig", err)
		}
		return c, nil
	}
	c, err := clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig %s: %w", f.kubeconfig, err)
	}
	return c, nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
