// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// compactRevKey holds the revision of the last compaction. The API server's compactor writes it,
// and its watch caches learn of compactions from nowhere else.
const compactRevKey = "compact_rev_key"

func startEtcd(ctx context.Context, dir string, log *logOutput) (*embed.Etcd, error) {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}

	cfg := embed.NewConfig()
	cfg.Name = "devserver"
	cfg.Dir = dir
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = anyPort, anyPort
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = anyPort, anyPort
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 10, 100 // a single member elects itself
	cfg.UnsafeNoFsync = true
	cfg.EnableGRPCGateway = false
	cfg.QuotaBackendBytes = 8 << 30
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapLogger(log))

	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
		err = fmt.Errorf("start etcd in %s: %w", dir, err)
	case <-etcd.Server.StopNotify():
		err = fmt.Errorf("start etcd in %s: it stopped before it was ready", dir)
	case <-ctx.Done():
		err = fmt.Errorf("start etcd in %s: %w", dir, context.Cause(ctx))
	}
	etcd.Close()
	return nil, err
}

func zapLogger(out *logOutput) *zap.Logger {
	if out == nil {
		return zap.NewNop()
	}
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), out, zap.InfoLevel))
}

func etcdRevision(ctx context.Context, etcd *embed.Etcd) (int64, error) {
	resp, err := etcd.Server.Range(ctx, &pb.RangeRequest{Key: []byte(compactRevKey)})
	if err != nil {
		return 0, fmt.Errorf("read etcd's revision: %w", err)
	}
	return resp.Header.Revision, nil
}

// compactEtcd drops the history before rev. The state at rev remains.
func compactEtcd(ctx context.Context, etcd *embed.Etcd, rev int64) error {
	// The key first: otherwise a watch cache might answer from history that etcd has dropped.
	_, err := etcd.Server.Put(ctx, &pb.PutRequest{Key: []byte(compactRevKey), Value: []byte(strconv.FormatInt(rev, 10))})
	if err != nil {
		return fmt.Errorf("announce the compaction to the API server: %w", err)
	}
	if _, err := etcd.Server.Compact(ctx, &pb.CompactionRequest{Revision: rev, Physical: true}); err != nil {
		return fmt.Errorf("compact etcd up to revision %d: %w", rev, err)
	}
	return nil
}
