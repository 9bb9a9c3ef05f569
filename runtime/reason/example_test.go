// SPDX-License-Identifier: Apache-2.0

package reason_test

import (
	"errors"
	"fmt"

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
