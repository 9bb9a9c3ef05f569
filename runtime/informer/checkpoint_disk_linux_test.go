// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestCheckpointOnAFullOrReadOnlyDisk has its own file system, in a namespace of the kernel. While
// that is full or read-only, the status and the log say so, the informer works, and the old file
// stays. Then the checkpoint is written again.
func TestCheckpointOnAFullOrReadOnlyDisk(t *testing.T) {
	const env = "INFORMER_TEST_DISK"
	if os.Getenv(env) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCheckpointOnAFullOrReadOnlyDisk$", "-test.v")
		child.Env = append(os.Environ(), env+"="+t.TempDir())
		child.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := child.CombinedOutput()
		switch exit := (*exec.ExitError)(nil); {
		case err != nil && !errors.As(err, &exit):
			t.Skip("no namespaces here: ", err)
		case strings.Contains(string(out), "--- SKIP"):
			t.Skipf("%s", out)
		case err != nil:
			t.Errorf("the child process: %v\n%s", err, out)
		}
		return
	}
	dir := os.Getenv(env)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skip("no file systems here: ", err)
	}
	synctest.Test(t, func(t *testing.T) {
		server := newShopOfTwenty()
		l := startSynced(t, server, dir)
		pass(2 * time.Second)
		written := l.pods.Status().Streams[0].CheckpointVersion
		if written == "" {
			t.Fatal("no checkpoint was written")
		}
		failing := func(why error) {
			t.Helper()
			l.mu.Lock()
			l.log = nil
			l.mu.Unlock()
			change(server)
			server.Pods.Delete("shop", "new")
			server.Pods.Create(pod("shop", numbered(2), ""))
			pass(2 * time.Minute)
			s := l.pods.Status().Streams[0]
			if !l.logged("The checkpoint can't be written") || !strings.Contains(s.CheckpointError, why.Error()) || s.CheckpointVersion != written {
				t.Errorf("Status() = %+v, want the error %v, and the checkpoint at %s", s, why, written)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) > 0 {
				t.Errorf("temporary files left: %q, %v", left, err)
			}
			// A process that starts now reads the old file, and watches or lists.
			startSynced(t, server, dir).end(t)
		}
		healed := func() {
			t.Helper()
			pass(2 * time.Minute)
			s := l.pods.Status().Streams[0]
			if written = s.CheckpointVersion; !l.logged("The checkpoint can be written again") || s.CheckpointError != "" || written != s.ResourceVersion {
				t.Errorf("Status() = %+v, want a new checkpoint", s)
			}
		}

		fill := filepath.Join(dir, "fill")
		if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		failing(syscall.ENOSPC)
		noError(t, os.Remove(fill))
		healed()
		remount := func(flags uintptr) {
			t.Helper()
			noError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, ""))
		}
		remount(syscall.MS_RDONLY)
		failing(syscall.EROFS)
		remount(0)
		healed()
		l.end(t)
	})
}
