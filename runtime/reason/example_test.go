// SPDX-License-Identifier: Apache-2.0

package reason_test

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/reason"
)

func ExampleOf() {
	for _, err := range []error{
		apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no rights")),
		fmt.Errorf("watch pods: %w", apierrors.NewResourceExpired("too old")),
		errors.New("connection refused"),
		nil,
	} {
		why := reason.Of(err)
		fmt.Printf("%v; lasting: %v\n", why, why.Lasting())
	}
	// Output:
	// forbidden; lasting: true
	// expired; lasting: false
	// unreachable; lasting: false
	// none; lasting: false
}

// A program that sends requests of its own waits for as long as the server asks.
func ExampleRetryAfter() {
	answers := []error{ // of the server
		apierrors.NewTooManyRequests("too many requests", 7),
		apierrors.NewResourceExpired("too old"),
		nil,
	}
	list := func() (err error) {
		err, answers = answers[0], answers[1:]
		return err
	}
	for {
		err := list()
		switch reason.Of(err) {
		case reason.None:
			fmt.Println("listed")
			return
		case reason.Expired:
			fmt.Println("list the newest state, at once:", reason.RetryAfter(err))
		default:
			fmt.Println("try again after", reason.RetryAfter(err).Truncate(time.Second))
		}
	}
	// Output:
	// try again after 7s
	// list the newest state, at once: 0s
	// listed
}
