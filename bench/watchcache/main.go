// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

// The other sides.
const (
	cacherSide harness.Side = "cacher"
	devSide    harness.Side = "devserver"
)

var program = report.Program{
	Name: "./bench/watchcache", Runs: 2, Library: "k8s.io/apiserver", Against: "cacher or devserver",
	Page: "docs/watchcache.md", Begin: "<!-- bench -->",
	Sizes:   harness.Sizes{CRs: 10_000, Watchers: 1000, Window: 10 * time.Second},
	Benches: []harness.Bench{deliverBench(), idleBench(), listBench()},
}

func main() {
	klog.SetLogger(klog.Logger{}) // of the API server's libraries
	program.Main()
}
