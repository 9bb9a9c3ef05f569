// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random requests; 0 means another one each time")

// The paths and parameters of random requests. None of them makes a server wait, or is among the
// deviations.
var (
	somePaths = []string{"widgets", "widgets", "namespaces/a/widgets", "namespaces/ab/widgets", "namespaces/d/widgets", "namespaces/none/widgets"}
	someNames = []string{"one", "two", "live", "none"}
	someWords = map[string][]string{
		"resourceVersion":      {"0", "{r0}", "{a2}", "{b1}", "{c1}", "{c1d}", "{head}", "{v4}", "{v8}", "{v10}", "", "x"},
		"resourceVersionMatch": {"Exact", "NotOlderThan", "Newest", ""},
		"limit":                {"0", "1", "2", "4", "100", "-1", "x"},
		"continue":             {"{page 2}", "{page 2 of app=x}", "{page 2 at b2}", "{newest}", "{upwards}", "x"},
		"labelSelector":        {"app=x", "app!=x", "app in (x,y)", "!tier", "app,tier=back", "app=x,app=y", ""},
		"fieldSelector":        {"spec.node=n1", "spec.node!=n1,spec.color=red", "metadata.name=one", "metadata.namespace=a", "metadata.namespace!=b,metadata.name!=one", "spec.none=1", ""},
		"sendInitialEvents":    {"true", "false"},
		"watch":                {"true", "0"},
	}
	oddsOf = map[string]float64{
		"resourceVersion": 0.6, "resourceVersionMatch": 0.3, "limit": 0.4, "continue": 0.2,
		"labelSelector": 0.4, "fieldSelector": 0.4, "sendInitialEvents": 0.05, "watch": 0.2,
	}
	parameters = []string{"resourceVersion", "resourceVersionMatch", "limit", "continue", "labelSelector", "fieldSelector", "sendInitialEvents", "watch"}
)

// compareRandom sends random requests, and compares the handler's answers with the API server's.
func (p *play) compareRandom(t *testing.T) {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to send the same random requests again: go test ./test/watchcache -seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 4 { // with more at once, the API server's watches end while they wait for etcd
		var exchanges []*exchange
		for range 100 {
			exchanges = append(exchanges, &exchange{request: randomRequest(random)})
		}
		var differences []string
		for range attempts {
			if exchanges, differences = p.compare(t, exchanges); exchanges == nil {
				break
			}
		}
		for _, d := range differences {
			t.Error(d)
		}
	}
}

// attempts bounds the attempts of a request with an unexpected answer. A busy server may end a
// watch before it has sent all events.
const attempts = 5

// compare sends requests, and returns those with different answers.
func (p *play) compare(t *testing.T, exchanges []*exchange) (differ []*exchange, differences []string) {
	t.Helper()
	server, handler := p.send(t, p.server, exchanges), p.send(t, p.handler, exchanges)
	for i, e := range exchanges {
		want, got := p.line(t, server[i]), p.line(t, handler[i])
		if want != got {
			differ = append(differ, e)
			differences = append(differences, fmt.Sprintf("%s\n got  %s\n want %s", e.request, got, want))
		}
	}
	return differ, differences
}

func randomRequest(random *rand.Rand) string {
	one := func(of []string) string { return of[random.IntN(len(of))] }
	path := one(somePaths)
	if strings.Contains(path, "/") && random.Float64() < 0.1 {
		path += "/" + one(someNames)
	}
	query := []string{"timeoutSeconds=2"}
	for _, name := range parameters {
		if random.Float64() < oddsOf[name] {
			query = append(query, name+"="+one(someWords[name]))
		}
	}
	request := "GET " + path + "?" + strings.Join(query, "&")
	// For a page of one namespace by field selector, an API server's token lacks the namespace, and
	// the server then reads it as a key in all namespaces. The handler's token has the namespace.
	if strings.Contains(request, "limit=") {
		request = strings.ReplaceAll(request, "metadata.namespace=a", "metadata.namespace!=a")
	}
	return request
}
