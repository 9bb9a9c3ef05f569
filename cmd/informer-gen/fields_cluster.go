// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/fields"
)

// mostPerRequest is how long a request to the cluster of a kubeconfig may take.
const mostPerRequest = time.Minute

// cluster returns the cluster that the flags name, which has been reached; nil if they name none.
func (r *reading) cluster(ctx context.Context) (*fields.Cluster, error) {
	switch {
	case r.kubeconfig == "" && r.context != "":
		return nil, errors.New("--context is of a kubeconfig: name its file with --kubeconfig")
	case r.kubeconfig == "":
		return nil, nil
	case r.sample != "":
		return nil, errors.New("--sample and --kubeconfig are two places to take objects from: name one of them")
	}
	config, err := r.config()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: %w", filepath.ToSlash(r.kubeconfig), err)
	}
	config.Timeout, config.UserAgent = mostPerRequest, "informer-gen"
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: server %s: %w", filepath.ToSlash(r.kubeconfig), config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: %w", filepath.ToSlash(r.kubeconfig), err)
	}
	cluster, err := fields.NewCluster(ctx, client, address.String())
	if err != nil {
		return nil, fmt.Errorf("asking the cluster for its API groups: %w", err)
	}
	return cluster, nil
}

// config reads the kubeconfig, without the places where client-go looks if there is none.
func (r *reading) config() (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: r.kubeconfig}
	loaded, err := rules.Load()
	if err != nil {
		return nil, err
	}
	name := cmp.Or(r.context, loaded.CurrentContext)
	switch {
	case name == "":
		return nil, errors.New("it has no current context: name one with --context")
	case loaded.Contexts[name] == nil:
		return nil, fmt.Errorf("it has no context %q%s", name, diag.DidYouMean(name, slices.Sorted(maps.Keys(loaded.Contexts))))
	}
	return clientcmd.NewNonInteractiveClientConfig(*loaded, name, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
}
