// SPDX-License-Identifier: Apache-2.0

// Generator measures informer-gen against lister-gen followed by informer-gen of
// k8s.io/code-generator, side by side, on all of k8s.io/api, and prints a table with the ratios. A
// row that misses its mark ends with the word "short".
//
//	go run ./bench/generator                    all of it: some minutes on two cores
//	go run ./bench/generator --only generate    some of it
//	go run ./bench/generator --md               docs/benchmarks.md as well
//
// # How
//
// The three programs are built first, from this checkout and from the module cache, with nothing
// but the go command. They read the packages with a types.go, in one call, as when client-go is
// generated. Ours is called without any flag, the others with their required ones, the licence and
// the plural of Endpoints. Each side works in a module of its own in a temporary folder; both
// modules have the same requirements, those of this program.
//
// The sides run in turn, each once before the runs that count. Wall time lasts from start to exit,
// both programs' together. CPU is user and system time of all processes of the run: the operating
// system adds up those of a program and of the programs it has waited for.
//
// # generate
//
// A run that writes everything into an empty folder.
//
// # compile
//
// CPU time of go build for the generated packages of each side, listers and informers, while all
// their imports are in the build cache. For each run every generated file gets another comment, so
// that it is compiled again.
package main
