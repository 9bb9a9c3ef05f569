// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
	v1 "github.com/informer-gen/informer-gen/examples/webhooks/api/v1"
	"github.com/informer-gen/informer-gen/examples/webhooks/api/v1beta1"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Background())
	devservertest.VerifyTestMain(m)
}

// start runs the webhooks beside an API server that calls them, and returns a client of that.
func start(t *testing.T) (client.Client, *devservertest.Webhooks) {
	t.Helper()
	server := devservertest.New(t)
	installed := devservertest.InstallWebhooks(t, server, "config/crd", "config/webhook")
	m, err := newManager(server.Config(), webhook.Options{
		Host: installed.Host, Port: installed.Port, CertDir: installed.CertDir,
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run() = %v, want %v", err, context.Canceled)
		}
	})
	eventually(t, func() error {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if w.Code != http.StatusOK {
			return errors.New(w.Body.String())
		}
		return nil
	})
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c, installed
}

// eventually calls f until it returns nil.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestTeams(t *testing.T) {
	c, _ := start(t)
	ctx := t.Context()

	blue := &v1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blue"}, Spec: v1.TeamSpec{Members: []string{"ann", "bob"}}}
	if err := c.Create(ctx, blue); err != nil {
		t.Fatal(err)
	}
	if blue.Spec.Lead != "ann" {
		t.Errorf("the lead is %q by default, want ann", blue.Spec.Lead)
	}

	blue.Spec.Lead = "zoe"
	err := c.Update(ctx, blue)
	const want = `admission webhook "vteam-v1.example.com" denied the request: spec.lead: zoe is not a member; choose one of ann, bob`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("an update with a lead that isn't a member returns\n%v, want\n%s", err, want)
	}

	old := &v1beta1.Team{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(blue), old); err != nil {
		t.Fatal(err)
	}
	if want := (v1beta1.TeamSpec{Members: "ann,bob", Lead: "ann"}); old.Spec != want {
		t.Errorf("as v1beta1 it is %+v, want %+v", old.Spec, want)
	}
	red := &v1beta1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "red"}, Spec: v1beta1.TeamSpec{Members: "cid, dan"}}
	if err := c.Create(ctx, red); err != nil {
		t.Fatal(err)
	}
	stored := &v1.Team{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(red), stored); err != nil {
		t.Fatal(err)
	}
	if stored.Spec.Lead != "cid" || !slices.Equal(stored.Spec.Members, []string{"cid", "dan"}) {
		t.Errorf("as v1 it is %+v", stored.Spec)
	}
}

// TestCertificateIsReloaded: handshakes after a renewal have the new certificate.
func TestCertificateIsReloaded(t *testing.T) {
	_, installed := start(t)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(installed.CA)
	serial := func() *big.Int {
		conn, err := tls.Dial("tcp", fmt.Sprintf("%s:%d", installed.Host, installed.Port), &tls.Config{RootCAs: trusted})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber
	}
	before := serial()
	installed.RenewCertificate(t)
	eventually(t, func() error {
		if now := serial(); now.Cmp(before) == 0 {
			return fmt.Errorf("the certificate is still %v", now)
		}
		return nil
	})
}
