// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/test/internal/realserver"
	"github.com/informer-gen/informer-gen/test/kubernetes/endpoints/kubeserver"
)

func TestMain(m *testing.M) {
	kubeserver.Main()
	os.Exit(m.Run())
}

func TestOnKubernetes(t *testing.T) {
	config := kubeserver.Start(t)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	t.Run("optional resource", func(t *testing.T) { realserver.OptionalResource(t, config) })
	t.Run("without managedFields", func(t *testing.T) { realserver.WithoutManagedFields(t, config) })
}
