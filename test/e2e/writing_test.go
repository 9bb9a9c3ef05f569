// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/test/internal/writing"
)

// The promises of runtime/writer, on custom resources and on built-in kinds.
func TestWriting(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "crd.yaml")
	if err := os.WriteFile(file, []byte(writing.CRD), 0o600); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	writing.Run(t, &rest.Config{Host: newCluster(t, "--built-in-kinds", "--crds", file).url, Transport: transport})
}
