// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS returns the largest resident set, in bytes, of a process that has ended and of those that
// it has waited for.
func maxRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10 // kilobytes elsewhere
}
