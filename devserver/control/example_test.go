// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"

	"github.com/informer-gen/informer-gen/devserver/control"
)

// A test whose API server is another process. Here, that is the test program itself.
func ExampleStart() {
	ctx := context.Background()
	cmd := exec.Command(os.Args[0]) // or exec.Command("devserver", "--control")
	cmd.Env = append(os.Environ(), childDoes+"=serve")
	server, err := control.Start(ctx, cmd)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready at", server.URL()) // for clients: rest.Config{Host: server.URL()}
	resourceVersion, err := server.Compact(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("nothing is left of the time before", resourceVersion)
	fmt.Println(server.Quit(ctx))
	// Output:
	// ready at http://fake
	// nothing is left of the time before 42
	// <nil>
}

// A program that starts a server with options of its own, and obeys its parent. It reads commands
// from os.Stdin.
func ExampleServe() {
	server := newFake() // or devserver.Start
	if err := control.Serve(context.Background(), server, strings.NewReader("end-watches\nquit\n"), os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ready http://fake
	// ok 7
	// ok
}
