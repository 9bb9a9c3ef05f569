// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/informer-gen/informer-gen/devserver"
)

// A server that stops amid writes, with watches whose clients don't read, ends soon. The next one
// in its folder has every write that was answered.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	writers, large := 20, 5
	if testing.Short() {
		writers, large = 5, 2
	}
	opts := devserver.Options{Dir: t.TempDir(), CRDs: crds{boatCRD()}, BuiltInKinds: true, CollectGarbage: true}
	s := start(t, opts)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	url := s.URL() + "/apis/harbour.example.com/v1/boats?watch=true"
	for range writers { // they are not read
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
	}
	config := s.Config()
	config.Transport = transport
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	answered := make([]int, writers) // the last write of each; one goroutine counts
	begun := make(chan struct{}, writers)
	for n := range writers {
		all.Go(func() {
			b := boat(fmt.Sprint("n", n), "a")
			if n < large {
				b.Object["spec"] = map[string]any{"berth": strings.Repeat("x", 1<<20)}
			}
			_, err := c.Resource(boats).Namespace("default").Create(ctx, b, metav1.CreateOptions{})
			for i := 1; err == nil; i++ {
				if answered[n] = i; i == 5 {
					begun <- struct{}{}
				}
				patch := fmt.Appendf(nil, `{"metadata":{"labels":{"i":"%d"}}}`, i+1)
				_, err = c.Resource(boats).Namespace("default").Patch(ctx, b.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
			}
			if answered[n] < 5 {
				t.Error(err)
				begun <- struct{}{}
			}
		})
	}
	for range writers {
		<-begun
	}
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("the stop took %v", time.Since(began))
	all.Wait()
	cancel()

	opts.CRDs = nil
	again := start(t, opts)
	for n, i := range answered {
		b, err := client(t, again).Resource(boats).Namespace("default").Get(t.Context(), fmt.Sprint("n", n), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// The write that was not answered may be there as well.
		if got := b.GetLabels()["i"]; got != fmt.Sprint(i) && got != fmt.Sprint(i+1) {
			t.Errorf("n%d is at %s, and %d writes were answered", n, got, i)
		}
	}
}
