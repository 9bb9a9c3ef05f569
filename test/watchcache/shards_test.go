// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

// shards are selectors of halves of the hashes, and of other parts.
var shards = []string{
	"shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
	"shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
	"shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')",
	"shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')",
	"shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')",
	"shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000') || shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')",
	"",
}

// noShards are malformed selectors. An API server answers them with 500 and no reason, as errors of
// its own. The handler refuses them with 400, in other words.
var noShards = []string{
	"shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
	"shardRange(object.metadata.uid, '0x8000000000000000', '0x4000000000000000')",
	"shardRange(object.metadata.uid, '0x0000000000000000', '0x20000000000000000')",
	"shardRange(object.metadata.uid, '0x000000000000000g', '0x8000000000000000')",
	"shardRange(object.metadata.uid, 0, 1)",
	"shardRange(object.metadata.uid)",
	"shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
	"shardRange(metadata.uid, '0x0000000000000000', '0x8000000000000000')",
	"hashRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
	"shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') == true",
	"nonsense",
	"shardRange(",
}

// TestShards compares the lists and watches of shards (KEP-5866), which need a feature gate of API
// servers. Hashes of uids differ from run to run, so there is no file of answers.
func TestShards(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ShardedListAndWatch, true)
	p := start(t)
	p.make(t, before...)
	p.fetchTokens(t)
	exchanges := shardRequests(shards)
	var differences []string
	for range attempts {
		if exchanges, differences = p.compare(t, exchanges); exchanges == nil {
			break
		}
	}
	if differences != nil {
		t.Error(strings.Join(differences, "\n"))
	}
	exchanges = shardRequests(noShards)
	server, handler := p.send(t, p.server, exchanges), p.send(t, p.handler, exchanges)
	for i, e := range exchanges {
		if got, want := p.line(t, server[i]), `500 (no reason) "invalid shard selector: `; !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got  %s\n want %s…", e.request, got, want)
		}
		if got, want := p.line(t, handler[i]), `400 BadRequest "invalid shard selector: `; !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got  %s from the handler\n want %s…", e.request, got, want)
		}
	}
}

// shardRequests returns lists and watches with selectors.
func shardRequests(selectors []string) (exchanges []*exchange) {
	for _, selector := range selectors {
		for _, request := range []string{
			"GET widgets?",
			"GET widgets?labelSelector=app=x&",
			"GET widgets?limit=2&",
			"GET widgets?resourceVersion={c1}&resourceVersionMatch=Exact&",
			"GET namespaces/a/widgets?",
			"GET widgets?watch=true&timeoutSeconds=2&resourceVersion={r0}&",
			"GET widgets?watch=true&timeoutSeconds=2&resourceVersion={r0}&fieldSelector=spec.color=red&",
			"GET widgets?watch=true&timeoutSeconds=2&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&",
		} {
			exchanges = append(exchanges, &exchange{request: request + "shardSelector=" + selector})
		}
	}
	return exchanges
}
