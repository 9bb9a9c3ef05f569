// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/internal/rbac"
)

// access is the command rbac.
type access struct {
	write         bool
	name, program string
}

func newRBAC() *cobra.Command {
	var a access
	cmd := &cobra.Command{
		Use:   "rbac [flags] FILE... -- COMMAND",
		Short: "Compare or write the RBAC role of a program, by its requests in tests",
		Long: `Rbac runs COMMAND, which runs tests, and compares the requests of the program under test with the rules of the
ClusterRoles and Roles in FILE. It prints the rules that are missing, with the first request that needs each, and the
unused ones, with their lines. Then the exit code is 1.

With --write it adds and removes these rules. Missing ones go to the first FILE, to its first ClusterRole, or else Role;
a file that doesn't exist becomes a new ClusterRole. Everything else stays as it is, with its order and comments.

The tests record the requests of clients that they configure with package testkit/rbactest; tests of several packages
together use the role. Nothing is written if COMMAND fails. A rule that no test can need is kept below a comment that
begins with "keep:", such as "# keep: the tests elect no leader".`,
		Example: `  informer-gen rbac --write config/rbac/role.yaml -- go test ./...
  informer-gen rbac config/rbac/role.yaml config/rbac/leader_election_role.yaml -- make test`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: a.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&a.write, "write", false, "write the rules instead of comparing")
	flags.StringVar(&a.name, "name", "manager-role", "the `NAME` of a new ClusterRole")
	flags.StringVar(&a.program, "program", "", "take the requests of the recorders whose Program is `NAME`, of a project's several")
	must(cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("program", cobra.NoFileCompletions))
	return cmd
}

func (a *access) run(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if dash < 1 || dash == len(args) {
		return errors.New("rbac needs files with roles and a command that runs the tests, as in: informer-gen rbac config/rbac/role.yaml -- make test")
	}
	files, err := a.files(args[:dash])
	if err != nil {
		return err
	}
	records, err := a.record(cmd, args[dash:])
	if err != nil {
		return err
	}
	c := rbac.Compare(files, records)
	if !a.write {
		if err := printFindings(cmd.ErrOrStderr(), append(c.Missing, c.Unused...)); err != nil {
			return err
		}
		if len(c.Missing)+len(c.Unused) > 0 {
			return errDifference
		}
		return nil
	}
	edits, err := c.Edits()
	if err != nil {
		return err
	}
	for _, e := range edits {
		if err := os.WriteFile(e.Name, e.Text, 0o644); err != nil {
			return fmt.Errorf("write the role: %w", err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), "Written: "+e.Name)
		for _, comment := range e.Dropped {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s%s: removed with its rule: %s\n", prefix, e.Name, comment)
		}
	}
	return nil
}

// files reads the roles before the tests run, which may take long.
func (a *access) files(names []string) ([]*rbac.File, error) {
	if _, err := os.Stat(names[0]); !a.write || !errors.Is(err, fs.ErrNotExist) {
		return rbac.ReadFiles(names...)
	}
	created, err := rbac.NewFile(names[0], a.name)
	if err != nil {
		return nil, err
	}
	others, err := rbac.ReadFiles(names[1:]...)
	return append([]*rbac.File{created}, others...), err
}

// record returns the requests that the command's tests record.
func (a *access) record(cmd *cobra.Command, command []string) ([]rbac.Record, error) {
	folder, err := os.MkdirTemp("", "informer-gen-rbac-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the tests' records: %w", err)
	}
	defer os.RemoveAll(folder)
	run := exec.CommandContext(cmd.Context(), command[0], command[1:]...)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.Stdin, run.Stdout, run.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	run.Env = append(os.Environ(), rbac.Folder+"="+folder)
	if err := run.Run(); err != nil {
		return nil, fmt.Errorf("%s failed, so its requests aren't complete: %w", strings.Join(command, " "), err)
	}
	all, err := rbac.ReadRecords(folder)
	if err != nil {
		return nil, err
	}
	var programs []string
	for _, r := range all {
		programs = append(programs, fmt.Sprintf("%q", r.Program))
	}
	own := slices.DeleteFunc(all, func(r rbac.Record) bool { return r.Program != a.program })
	switch {
	case len(programs) == 0:
		return nil, fmt.Errorf("no test of %s has recorded a request; give the program under test the Config of a rbactest.Recorder", strings.Join(command, " "))
	case len(own) == 0:
		return nil, fmt.Errorf("no request is of the program %q; recorders have requests of %s (choose with --program)", a.program, strings.Join(slices.Compact(programs), ", "))
	}
	return own, nil
}
