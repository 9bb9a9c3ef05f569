// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
)

func TestDropReturnsErrors(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	db := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	store := &backups{server.URL}
	// not found: it was never backed up, or the backups were dropped before
	for _, code = range []int{http.StatusOK, http.StatusNotFound} {
		if err := store.drop(t.Context(), db); err != nil {
			t.Errorf("with %d drop returns %v", code, err)
		}
	}
	code = http.StatusInternalServerError
	want := "DELETE " + server.URL + "/shop/orders: the store answers 500 Internal Server Error"
	if err := store.drop(t.Context(), db); err == nil || err.Error() != want {
		t.Errorf("drop returns %v, want %s", err, want)
	}
	server.Close()
	if err := store.drop(t.Context(), db); err == nil {
		t.Error("drop returns no error without a server")
	}
	if err := (&backups{":"}).drop(t.Context(), db); err == nil || !strings.Contains(err.Error(), "missing protocol scheme") {
		t.Errorf("with a wrong URL drop returns %v", err)
	}
}
