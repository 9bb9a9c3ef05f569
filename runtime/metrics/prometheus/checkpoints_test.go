// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// TestMetricsOfCheckpoints: two processes in turn, then one whose writes fail.
func TestMetricsOfCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, c := t.TempDir(), newCluster(t)
		c.Pods.Create(newPod("a"))
		c.Pods.Create(newPod("b"))

		p, registry := registered(t)
		stop := c.again(t, informer.WithMetrics(p), informer.WithCheckpoint(dir)).start(t)
		waitAndWant(t, registry, map[string]float64{
			"informer_checkpoint_failing{pods}":           0,
			"informer_checkpoint_timestamp_seconds{pods}": -1,
			"informer_checkpoint_bytes{pods}":             0,
		})
		time.Sleep(2 * time.Second)
		size := sizeOf(t, dir)
		waitAndWant(t, registry, map[string]float64{
			"informer_checkpoint_timestamp_seconds{pods}":      float64(time.Now().Unix() - 1),
			"informer_checkpoint_bytes{pods}":                  size,
			"informer_checkpoint_written_bytes_total{pods}":    size,
			"informer_checkpoint_writes_total{pods}":           1,
			"informer_checkpoint_write_failures_total{pods}":   0,
			"informer_checkpoint_restored_objects_total{pods}": 0,
		})
		stop()

		c.Pods.Create(newPod("c"))
		p, registry = registered(t)
		stop = c.again(t, informer.WithMetrics(p), informer.WithCheckpoint(dir)).start(t)
		waitAndWant(t, registry, map[string]float64{
			"informer_objects{pods}":                           3,
			"informer_listed_objects_total{pods}":              0,
			"informer_checkpoint_bytes{pods}":                  size,
			"informer_checkpoint_writes_total{pods}":           0,
			"informer_checkpoint_restored_objects_total{pods}": 2,
		})
		time.Sleep(time.Minute)
		waitAndWant(t, registry, map[string]float64{
			"informer_checkpoint_bytes{pods}":               sizeOf(t, dir),
			"informer_checkpoint_writes_total{pods}":        1,
			"informer_checkpoint_written_bytes_total{pods}": sizeOf(t, dir),
		})
		stop()

		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p, registry = registered(t)
		stop = c.again(t, informer.WithMetrics(p), informer.WithCheckpoint(file)).start(t)
		time.Sleep(15 * time.Second)
		waitAndWant(t, registry, map[string]float64{
			"informer_checkpoint_failing{pods}":              1,
			"informer_checkpoint_write_failures_total{pods}": 2,
			"informer_checkpoint_timestamp_seconds{pods}":    -1,
		})
		stop()

		p, registry = registered(t)
		stop = c.again(t, informer.WithMetrics(p)).start(t)
		time.Sleep(time.Minute)
		for sample := range gather(t, registry) {
			if strings.Contains(sample, "checkpoint") {
				t.Errorf("an informer without a checkpoint has the series %s", sample)
			}
		}
		stop()
	})
}

func sizeOf(t *testing.T, dir string) float64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return float64(info.Size())
}

// TestCheckpointsOfOneName: sums, and the age of the oldest.
func TestCheckpointsOfOneName(t *testing.T) {
	p, registry := registered(t)
	now := time.Unix(1e9, 0)
	states := []metrics.CheckpointState{
		{},
		{Kept: true, Saved: now, Bytes: 5, Writes: 7},
		{Kept: true, Saved: now.Add(-time.Minute), Bytes: 6, Failing: true},
	}
	var all []*fake
	var runs []metrics.InformerRecorder
	for _, state := range states {
		i := &fake{state: metrics.InformerState{Checkpoint: state}}
		all, runs = append(all, i), append(runs, p.BeginInformer("pods", i.read))
	}
	count := func(n int) {
		all[n].set(func(s *metrics.InformerState, _ *metrics.HandlerState) {
			s.Checkpoint.Writes++
			s.Checkpoint.Written += 10
			s.Checkpoint.WriteTime += time.Second
			s.Checkpoint.WriteFailures += 2
			s.Checkpoint.Restored += 3
		})
	}
	count(1)
	count(2)
	totals := map[string]float64{
		"informer_checkpoint_writes_total{pods}":           2,
		"informer_checkpoint_written_bytes_total{pods}":    20,
		"informer_checkpoint_write_seconds_total{pods}":    2,
		"informer_checkpoint_write_failures_total{pods}":   4,
		"informer_checkpoint_restored_objects_total{pods}": 6,
	}
	wantSamples(t, registry, totals)
	wantSamples(t, registry, map[string]float64{
		"informer_checkpoint_bytes{pods}": 11, "informer_checkpoint_failing{pods}": 1, "informer_checkpoint_timestamp_seconds{pods}": 1e9 - 60,
	})
	runs[2].Close()
	wantSamples(t, registry, totals)
	wantSamples(t, registry, map[string]float64{
		"informer_checkpoint_bytes{pods}": 5, "informer_checkpoint_failing{pods}": 0, "informer_checkpoint_timestamp_seconds{pods}": 1e9,
	})
	runs[0].Close()
	runs[1].Close()
}
