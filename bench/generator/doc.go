// SPDX-License-Identifier: Apache-2.0

// Generator measures informer-gen against lister-gen followed by informer-gen of
// k8s.io/code-generator, side by side, on all of k8s.io/api, and prints a table with the ratios. A
// row that misses its mark ends with the word "short".
//
//	go run ./bench/generator                    all of it: some minutes on two cores
//	go run ./bench/generator --only generate    some of it
//	go run ./bench/generator --md               a table in Markdown
//
// # How
//
// The three programs are built first, from this checkout and from the module cache, with nothing
// but the go command. They read the packages with a types.go, in one call, which is how client-go
// is generated; ours is called without any flag, the others with those that their flags require,
// the licence and the plural of Endpoints. Each side works in a module of its own in a temporary
// folder; both modules have the same requirements, those of this program. The network isn't used.
//
// The sides run in turn, and neither always first. Before the runs that count, each side runs once.
// Every value is the median over the runs (-n); the smallest and the largest are in brackets.
//
// # generate
//
// A run that writes everything into an empty folder. Wall time is that from start to exit, both
// programs' together. CPU is user and system time of all processes of the run: the operating system
// adds up those of a program and of the programs that it has waited for. Peak memory is the largest
// resident set that one process of the run has had (ru_maxrss of getrusage), not the sum of those
// that were there at the same time; only on Unix.
//
// # cold
//
// A run with an empty build cache (GOCACHE), as on a CI machine. The programs are there already.
// All sides load packages from source, so the mark is that ours takes no longer than the others.
//
// # compile
//
// CPU time of go build for the generated packages of each side, listers and informers, while
// everything that they import is in the build cache. For each run every generated file gets another
// comment, so that it is compiled anew; what that leaves in the build cache is removed by the go
// command after some days.
package main
