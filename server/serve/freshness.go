// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

func setFreshness(w http.ResponseWriter, cache *watchcache.Cache) {
	status := cache.Status()
	if !status.Ready {
		return
	}
	age := max(time.Since(status.LastEvent), 0)
	w.Header().Set("Watch-Cache-Version", formatVersion(status.Version))
	w.Header().Set("Age", strconv.FormatInt(int64(age/time.Second), 10))
}
