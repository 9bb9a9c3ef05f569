// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/cobra"
)

// profiles are the flags that say where to record what a run spends its time on.
type profiles struct {
	cpu, trace string
}

func (p *profiles) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of the run to `FILE`, for go tool pprof")
	cmd.Flags().StringVar(&p.trace, "trace", "", "write an execution trace of the run to `FILE`, for go tool trace")
}

// around calls do, recording what is asked for. The errors are those of do and of recording,
// joined.
func (p *profiles) around(do func() error) (err error) {
	for _, recorder := range []struct {
		flag, file string
		start      func(io.Writer) error
		stop       func()
	}{
		{"--cpuprofile", p.cpu, pprof.StartCPUProfile, pprof.StopCPUProfile},
		{"--trace", p.trace, trace.Start, trace.Stop},
	} {
		if recorder.file == "" {
			continue
		}
		file, createErr := os.Create(recorder.file)
		if createErr != nil {
			return fmt.Errorf("%s: %w", recorder.flag, createErr)
		}
		if startErr := recorder.start(file); startErr != nil {
			return errors.Join(fmt.Errorf("%s: %w", recorder.flag, startErr), file.Close())
		}
		defer func() {
			recorder.stop()
			err = errors.Join(err, file.Close())
		}()
	}
	return do()
}
