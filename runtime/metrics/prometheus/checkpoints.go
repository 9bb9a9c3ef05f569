// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// The metrics of checkpoints, which are read when they are collected:
var (
	checkpointFailingDesc  = describe("checkpoint_failing", "1 if a checkpoint could not be written the last time, else 0.")
	checkpointTimeDesc     = describe("checkpoint_timestamp_seconds", "When the checkpoint was written, in Unix time.")
	checkpointBytesDesc    = describe("checkpoint_bytes", "Size of the checkpoint.")
	checkpointWritesDesc   = describe("checkpoint_writes_total", "How often the checkpoint was written whole.")
	checkpointWrittenDesc  = describe("checkpoint_written_bytes_total", "Bytes of the checkpoints that were written.")
	checkpointSecondsDesc  = describe("checkpoint_write_seconds_total", "Time that writing them has taken.")
	checkpointFailuresDesc = describe("checkpoint_write_failures_total", "Attempts to write a checkpoint that have failed.")
	checkpointRestoredDesc = describe("checkpoint_restored_objects_total", "Objects that came from a checkpoint.")
)

var checkpointDescs = []*prom.Desc{
	checkpointFailingDesc, checkpointTimeDesc, checkpointBytesDesc, checkpointWritesDesc, checkpointWrittenDesc,
	checkpointSecondsDesc, checkpointFailuresDesc, checkpointRestoredDesc,
}

// collectCheckpoint emits nothing for an informer without a checkpoint.
func collectCheckpoint(c *metrics.CheckpointState, emit func(*prom.Desc, prom.ValueType, float64, ...string)) {
	if !c.Kept {
		return
	}
	emit(checkpointFailingDesc, prom.GaugeValue, oneIf(c.Failing))
	emit(checkpointBytesDesc, prom.GaugeValue, float64(c.Bytes))
	if !c.Saved.IsZero() {
		emit(checkpointTimeDesc, prom.GaugeValue, unix(c.Saved))
	}
	emit(checkpointWritesDesc, prom.CounterValue, float64(c.Writes))
	emit(checkpointWrittenDesc, prom.CounterValue, float64(c.Written))
	emit(checkpointSecondsDesc, prom.CounterValue, c.WriteTime.Seconds())
	emit(checkpointFailuresDesc, prom.CounterValue, float64(c.WriteFailures))
	emit(checkpointRestoredDesc, prom.CounterValue, float64(c.Restored))
}

// addCheckpoint adds what is no total of the checkpoints of another run, if it has any.
func addCheckpoint(sum, now *metrics.CheckpointState) {
	switch {
	case !now.Kept:
		return
	case sum.Kept:
		sum.Saved = earlier(sum.Saved, now.Saved)
	default:
		sum.Saved = now.Saved
	}
	sum.Kept, sum.Failing = true, sum.Failing || now.Failing
	sum.Bytes += now.Bytes
}

// addCheckpointTotals adds to sum what was counted between before and now.
func addCheckpointTotals(sum, now, before *metrics.CheckpointState) {
	sum.Writes += now.Writes - before.Writes
	sum.Written += now.Written - before.Written
	sum.WriteTime += now.WriteTime - before.WriteTime
	sum.WriteFailures += now.WriteFailures - before.WriteFailures
	sum.Restored += now.Restored - before.Restored
}
