// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/test/internal/realserver"
)

func TestOptionalResource(t *testing.T) {
	t.Parallel()
	realserver.OptionalResource(t, configOf(t, newCluster(t)))
}

func TestWithoutManagedFields(t *testing.T) {
	t.Parallel()
	realserver.WithoutManagedFields(t, configOf(t, newCluster(t)))
}

// configOf returns a configuration whose connections are closed when the test ends.
func configOf(t *testing.T, c *cluster) *rest.Config {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: c.url, QPS: -1, Transport: transport}
}
