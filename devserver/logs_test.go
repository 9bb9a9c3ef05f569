// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/logutil"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
)

// TestEtcdClientLogsToLogOutput makes the API server's etcd client complain of an etcd that has
// ended.
func TestEtcdClientLogsToLogOutput(t *testing.T) {
	var lines bytes.Buffer
	log := &logOutput{out: &lines}
	serverLog.add(log)
	defer serverLog.remove(log)

	etcd, err := startEtcd(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	prober, err := factory.CreateProber(storagebackend.Config{
		Type:      storagebackend.StorageTypeETCD3,
		Transport: storagebackend.TransportConfig{ServerList: []string{"http://" + etcd.Clients[0].Addr().String()}},
		Prefix:    "/registry",
	})
	if err != nil {
		t.Fatal(err)
	}
	etcd.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := prober.Probe(ctx); err == nil {
		t.Error("an etcd that has ended is healthy")
	}
	if err := prober.Close(); err != nil {
		t.Error(err)
	}
	log.close()
	if !strings.Contains(lines.String(), "etcd-client") {
		t.Errorf("nothing of the etcd client is in the log:\n%s", lines.String())
	}
	if got := logutil.DefaultZapLoggerConfig.OutputPaths; len(got) != 1 || got[0] != "stderr" {
		t.Errorf("other clients of etcd log to %q, want stderr", got)
	}
}
