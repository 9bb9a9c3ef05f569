// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
)

// TestSelect has the rules of kube-controller-manager's --controllers.
func TestSelect(t *testing.T) {
	for _, test := range []struct{ selection, want string }{
		{"*", "a b"},
		{"", ""},
		{"a", "a"},
		{"-a", ""},
		{"*,-a", "b"},
		{"-a,*", "b"},
		{"a,-a", "a"}, // the first entry counts
		{"-a,a", ""},
		{"off", "off"},
		{"*,off", "a b off"},
		{"*,-off", "a b"},
		{"*,-old-a", "b"},
		{"old-a", "a"},
	} {
		t.Run(test.selection, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.run(func(o *manager.Options) {
					o.Controllers = []manager.Descriptor{
						r.recording("a", func(d *manager.Descriptor) { d.Aliases = []string{"old-a"} }), r.recording("b"), r.recording("off", disabled),
					}
					o.Select = strings.FieldsFunc(test.selection, func(c rune) bool { return c == ',' })
				})
				var runs []string
				for _, event := range r.take() {
					if name, ok := strings.CutPrefix(event, "run "); ok {
						runs = append(runs, name)
					}
				}
				same(t, "runs", strings.Join(sorted(runs), " "), test.want)
			})
		})
	}
}

func TestNewReportsAllErrors(t *testing.T) {
	build := func(context.Context, *manager.Context) (manager.Runnable, error) { return nil, nil }
	_, err := manager.New(manager.Options{
		Controllers: []manager.Descriptor{
			{Name: "a", Aliases: []string{"old", "-x"}, New: build}, {Name: "b", Aliases: []string{"old"}, New: build}, {New: build}, {Name: "c"},
		},
		Select:          []string{"*", "-a", "z", "-*"},
		ShutdownTimeout: -1,
	})
	wantError(t, err, `manager.New: the Config is nil; get one from clientcmd or rest.InClusterConfig
the Factory is nil
negative ShutdownTimeout -1ns
controller a: invalid name "-x"; a name must not be empty or *, begin with -, or contain a slash, a blank or a comma
controller b: the name "old" is also that of controller a
controller 3 of 4 has no name
controller c: New is nil
no controller is called "z"; there are a, b, c
no controller is called "*"; there are a, b, c`)
}

// TestNewRefusesNilPointers: a nil pointer is an error, unlike a nil interface for Election.
func TestNewRefusesNilPointers(t *testing.T) {
	var factory *factories.Factory
	var elector *election.Election
	_, err := manager.New(manager.Options{Config: &rest.Config{}, Factory: factory, Election: elector})
	wantError(t, err, `manager.New: the Factory is nil
the Election is a nil *election.Election; leave it out, so that the process leads, or make one`)
}

// TestFlags: the manager has flags, and each controller may have some.
func TestFlags(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		syncs := 5
		options := manager.Options{Config: r.config, Factory: r.factory, Controllers: []manager.Descriptor{
			r.recording("pods", func(d *manager.Descriptor) {
				d.Flags = func(flags *pflag.FlagSet) { flags.IntVar(&syncs, "concurrent-pod-syncs", syncs, "") }
			}),
			r.recording("off", disabled),
		}}
		command := &cobra.Command{RunE: func(*cobra.Command, []string) error { return nil }}
		command.Flags().String("flavour", "sweet", "")
		options.AddFlags(command.Flags())
		command.Flags().String("token", "", "")
		if err := command.Flags().MarkHidden("token"); err != nil {
			t.Fatal(err)
		}
		if help := command.Flags().Lookup("controllers").Usage; !strings.Contains(help, "All controllers: off, pods") || !strings.Contains(help, "Disabled by default: off") {
			t.Errorf("the help of --controllers is %q", help)
		}
		command.SetArgs([]string{"--controllers=*,off", "--concurrent-pod-syncs=7", "--controller-shutdown-timeout=1m", "--token=secret", "--address=:8080"})
		if err := command.Execute(); err != nil {
			t.Fatal(err)
		}
		m, err := manager.New(options)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the controller's flag", syncs, 7)
		_, shown := get(m, "/configz")
		same(t, "/configz", shown, `{
  "address": ":8080",
  "concurrent-pod-syncs": "7",
  "controller-shutdown-timeout": "1m0s",
  "controllers": "[*,off]",
  "flavour": "sweet",
  "help": "false",
  "logging-format": "text",
  "tls-cert-file": "",
  "tls-private-key-file": "",
  "v": "0",
  "vmodule": ""
}
`)

		plain := r.new(func(o *manager.Options) { o.Controllers = options.Controllers })
		checkGet(t, plain, "/configz", 200, `"controllers": "[*]"`)
		same(t, "the controller's flag after that", syncs, 7)
	})
}

func TestContext(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var c *manager.Context
		r.config.UserAgent = "shop/v1"
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{{Name: "maps", New: func(_ context.Context, given *manager.Context) (manager.Runnable, error) {
				c = given
				select {
				case <-c.InformersStarted:
					t.Error("informers have started")
				default:
				}
				return nil, nil
			}}}
		})
		<-c.InformersStarted
		same(t, "context", fmt.Sprint(c.Name, c.Config.UserAgent, c.Leading()), fmt.Sprint("maps", "shop/v1/maps", true))
		same(t, "the manager's config", r.config.UserAgent, "shop/v1")
		same(t, "a controller without a Runnable", states(t, m.Manager), "maps:off")
	})
}

func TestErrorOfNewEndsRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{r.recording("a"), {Name: "b", New: func(context.Context, *manager.Context) (manager.Runnable, error) {
				return nil, errors.New("no such disk")
			}}, r.recording("c")}
		})
		<-m.Done
		wantError(t, m.Err, "manager: Run: controller b: New: no such disk")
		same(t, "events", r.take(), []string{"make a"})
	})
}
