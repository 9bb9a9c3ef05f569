// SPDX-License-Identifier: Apache-2.0

// Package control runs a devserver as a child process and sends commands to it. Tests need it to
// measure the server's goroutines, memory or CPU time apart from their own, and to kill the server.
//
// The child is the command devserver with the flag --control, or any program that calls [Serve].
// Parent and child talk in lines over the child's stdin and stdout. The child first writes:
//
//	ready http://127.0.0.1:41235
//
// Then each line in is answered by one line out, in order: "ok", "ok" with a number, or "error"
// with a text.
//
//	compact          Server.Compact; answers with the resourceVersion
//	end-watches      Server.EndWatches; answers with their number
//	expire-watches   Server.ExpireWatches
//	quit             the server stops, then the child answers and ends
//
// The child also ends when its stdin does, and so together with its parent.
//
// The package doesn't import the server, so the parent needn't link it:
//
//	child, err := control.Start(ctx, exec.Command("devserver", "--control"))
//	…
//	defer child.Quit(ctx)
//	config := &rest.Config{Host: child.URL()}
package control
