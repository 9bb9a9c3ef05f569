// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/manager"
)

// logArgsEnv has the flags of a process that logs. The flags set klog, which a process has once.
const logArgsEnv = "MANAGER_LOG_ARGS"

// logSome is the main function of such a process.
func logSome() {
	flags := pflag.NewFlagSet("logs", pflag.ContinueOnError)
	var options manager.Options
	options.AddFlags(flags)
	if err := flags.Parse(strings.Fields(os.Getenv(logArgsEnv))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	logger := klog.Background().WithValues("controller", "maps")
	logger.Info("level 0", "key", "shop/blue")
	logger.V(2).Info("level 2")
	logger.V(3).Info("level 3")
	klog.V(2).InfoS("klog's level 2")
	klog.V(3).InfoS("klog's level 3")
	klog.Infof("formatted %d", 1)
	logger.Error(errors.New("no such disk"), "an error")
}

// logsOf returns the output of a process with these flags.
func logsOf(t *testing.T, args string) (lines []string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), logArgsEnv+"="+args)
	var out bytes.Buffer
	command.Stderr = &out
	err = command.Run()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

func TestLogsAreText(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{"": 3, "-v=2": 5, "-v 3 --logging-format=text": 7, "--vmodule=logs_test=2": 5, "--logging-format=json --logging-format=text --v=2": 5} {
		lines, err := logsOf(t, args)
		if err != nil || len(lines) != want || !strings.Contains(lines[0], `"level 0" controller="maps" key="shop/blue"`) {
			t.Errorf("%s: %d lines, want %d; %v\n%s", args, len(lines), want, err, strings.Join(lines, "\n"))
		}
	}
}

func TestLogsAreJSON(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--logging-format=json":      "level 0, formatted 1, an error",
		"-v=2 --logging-format=json": "level 0, level 2, klog's level 2, formatted 1, an error",
		"--logging-format=json -v2":  "level 0, level 2, klog's level 2, formatted 1, an error",
	} {
		lines, err := logsOf(t, args)
		if err != nil {
			t.Errorf("%s: %v\n%s", args, err, strings.Join(lines, "\n"))
		}
		var messages []string
		for _, line := range lines {
			var entry struct{ Msg, Level, Controller, Key, Err string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Errorf("%s: %v: %s", args, err, line)
			}
			switch {
			case entry.Msg == "level 0" && (entry.Controller != "maps" || entry.Key != "shop/blue" || entry.Level != "INFO"):
				t.Errorf("%s: %s", args, line)
			case entry.Msg == "an error" && (entry.Err != "no such disk" || entry.Level != "ERROR"):
				t.Errorf("%s: %s", args, line)
			}
			messages = append(messages, entry.Msg)
		}
		same(t, args, strings.Join(messages, ", "), want)
	}
}

func TestWrongLogFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--logging-format=xml": `invalid argument "xml" for "--logging-format" flag: must be text or json`,
		"-v=-1":                `invalid argument "-1" for "-v, --v" flag: must be a whole number, at least 0, such as 2`,
		"--v=99999999999":      `invalid argument "99999999999" for "-v, --v" flag: must be a whole number, at least 0, such as 2`,
		"-v debug":             `invalid argument "debug" for "-v, --v" flag: must be a whole number, at least 0, such as 2`,
		"--vmodule=informer":   `invalid argument "informer" for "--vmodule" flag: syntax error: expect comma-separated list of filename=N`,
	} {
		lines, err := logsOf(t, args)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || lines[len(lines)-1] != want {
			t.Errorf("%s: %v\n%s\nwant the error %s", args, err, strings.Join(lines, "\n"), want)
		}
	}
}

// TestTakenFlags: a program's own flag wins. Log flags are added together, or not at all.
func TestTakenFlags(t *testing.T) {
	logs := []string{"logging-format", "v", "vmodule"}
	for name, test := range map[string]struct {
		own  func(*pflag.FlagSet)
		want []string // the log flags of the manager
	}{
		"no flags":       {func(*pflag.FlagSet) {}, logs},
		"another flag":   {func(f *pflag.FlagSet) { f.String("kubeconfig", "", "") }, logs},
		"v":              {func(f *pflag.FlagSet) { f.Int("v", 7, "own") }, nil},
		"vmodule":        {func(f *pflag.FlagSet) { f.String("vmodule", "", "own") }, nil},
		"logging-format": {func(f *pflag.FlagSet) { f.String("logging-format", "", "own") }, nil},
		"the shorthand":  {func(f *pflag.FlagSet) { f.BoolP("verbose", "v", false, "own") }, nil},
		"address":        {func(f *pflag.FlagSet) { f.String("address", "", "own") }, logs},
	} {
		flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
		test.own(flags)
		options := manager.Options{Address: ":8080"}
		options.AddFlags(flags)
		var got []string
		for _, name := range logs {
			if f := flags.Lookup(name); f != nil && f.Usage != "own" {
				got = append(got, name)
			}
		}
		same(t, name, got, test.want)
		same(t, name+": --address is its own", flags.Lookup("address").Usage == "own", name == "address")
		same(t, name+": --controllers is there", flags.Lookup("controllers") != nil, true)
	}
}

// TestVmoduleIsForText: New refuses it together with JSON.
func TestVmoduleIsForText(t *testing.T) {
	flags := pflag.NewFlagSet("logs", pflag.ContinueOnError)
	r := newRig(t)
	options := manager.Options{Config: r.config, Factory: r.factory}
	options.AddFlags(flags)
	t.Cleanup(func() { _ = flags.Set("vmodule", "") })
	if err := flags.Parse([]string{"--vmodule=some_file=4"}); err != nil {
		t.Fatal(err)
	}
	if _, err := manager.New(options); err != nil {
		t.Errorf("with text: %v", err)
	}
	if err := flags.Set("logging-format", "json"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { klog.SetLogger(discard) })
	_, err := manager.New(options)
	wantError(t, err, "manager.New: --vmodule works with --logging-format=text only; leave one of them out")
}
