// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// promised notes what the caller of a List or Watch promises, and what it has.
//
// If a part that objects share was changed, objects that the caller has are not what the server has
// sent. Nothing tells which of them have the part. So the caller isn't asked for them, then and
// ever after, but gets new ones, none of which has the part.
func (s *stream) promised(ctx context.Context, readOnly bool, known knownFunc) {
	s.readOnly = readOnly
	s.codec.pools.table().Round()
	if known != nil && s.codec.pools.table().Check() {
		s.known = func(key object.Key, uid types.UID, resourceVersion string) object.Object {
			if !s.codec.pools.table().Intact() {
				return nil
			}
			return known(key, uid, resourceVersion)
		}
	}
	if !s.codec.pools.table().Intact() && s.codec.warned.CompareAndSwap(false, true) {
		klog.FromContext(ctx).Error(nil, "An object that was handed over as read-only has been modified, and others have the same memory; "+
			"they are right again once the server has sent them again. The mutation detector of informers finds who does it", "resource", describe(s.codec.gvr))
	}
}
