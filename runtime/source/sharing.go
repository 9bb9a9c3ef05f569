// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// promised stores the options ReadOnly and Known of a List or Watch.
//
// If a shared part was changed, some of the caller's objects differ from what the server has sent,
// and it is unknown which. So from then on Known is not called, and the caller gets newly decoded
// objects, none of which has the changed part.
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
