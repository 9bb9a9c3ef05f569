// SPDX-License-Identifier: Apache-2.0

package election_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// A client whose requests leave the process only while it leads.
func Example() {
	server := sourcetest.New()
	sourcetest.Serve[*coordinationv1.Lease](server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	config := server.Config() // in a program: of the cluster
	e, err := election.New(config, election.Options{Namespace: "shop", Name: "widgets"})
	if err != nil {
		log.Fatal(err)
	}
	client, err := rest.HTTPClientFor(e.Fence(config)) // or source.NewClient, or any clientset
	if err != nil {
		log.Fatal(err)
	}
	get := func() {
		resp, err := client.Get(config.Host + "/apis/coordination.k8s.io/v1/namespaces/shop/leases/widgets")
		if err != nil {
			fmt.Println(errors.Is(err, election.ErrNotLeading))
			return
		}
		fmt.Println(resp.Status)
		_ = resp.Body.Close()
	}
	get()
	ctx, cancel := context.WithCancelCause(context.Background())
	err = e.Run(ctx, func(ctx context.Context) error {
		get()
		cancel(errors.New("done")) // as at the end of the process
		<-ctx.Done()
		return nil
	})
	fmt.Println(err)
	// Output:
	// true
	// 200 OK
	// done
}
