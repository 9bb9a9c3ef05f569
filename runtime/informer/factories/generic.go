// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type generic struct {
	informer *informer.SharedIndexInformer[object.Object]
	resource schema.GroupResource
}

func (g generic) Informer() *informer.SharedIndexInformer[object.Object] { return g.informer }

func (g generic) Lister() *lister.Resource[object.Object] {
	return lister.New(g.informer.Store(), g.resource)
}
