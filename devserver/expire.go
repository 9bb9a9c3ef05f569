// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// Compact drops etcd's history before the newest change and returns that change's resourceVersion.
// The table in the package documentation says which requests then answer 410: with
// DisableWatchCache all that need older history, at once; with the watch cache lists at an exact
// older resourceVersion and continue tokens, within 15 s, but not watches. Compact first waits
// until the watch caches have all changes, so that none of their watches ends.
func (s *Server) Compact(ctx context.Context) (resourceVersion int64, err error) {
	if err := s.running(); err != nil {
		return 0, fmt.Errorf("devserver: compact: %w", err)
	}
	s.compacting.Lock() // etcd refuses a revision already compacted by another call
	defer s.compacting.Unlock()
	rev, err := etcdRevision(ctx, s.etcd)
	if err == nil {
		err = s.awaitCaches(ctx, rev)
	}
	if err == nil {
		err = compactEtcd(ctx, s.etcd, rev)
	}
	if err != nil {
		return 0, fmt.Errorf("devserver: compact: %w", err)
	}
	return rev, nil
}

// EndWatches ends all watches that came in over Options.Addr, as the server does when they get old:
// the stream ends without an error event, and the client may go on from its last resourceVersion. A
// watch still receiving its initial events may get an ERROR event with the message "context
// canceled". EndWatches waits until the watches have ended and returns their number. If ctx ends
// first the error wraps context.Cause(ctx).
func (s *Server) EndWatches(ctx context.Context) (int, error) {
	n, err := s.watches.end(ctx)
	if err != nil {
		return n, fmt.Errorf("devserver: end watches: %w", err)
	}
	return n, nil
}

// ExpireWatches makes all earlier resourceVersions of custom resources too old, with or without a
// watch cache: it compacts etcd, makes the API server replace the watch cache of each CRD, and ends
// open watches. Afterwards a watch from before the call gets the ERROR event of a 410, and an exact
// list or a continue token of that time gets a 410 at once or, with a watch cache, within 15 s.
//
// To replace the watch caches it changes each CRD: it adds a blank to the end of its schema's
// description, or takes it away. CRDs themselves keep their watch cache. If ctx ends first the
// error wraps context.Cause(ctx), and only some CRDs may have been treated.
func (s *Server) ExpireWatches(ctx context.Context) error {
	if err := s.running(); err != nil {
		return fmt.Errorf("devserver: expire watches: %w", err)
	}
	rev, err := etcdRevision(ctx, s.etcd)
	if err != nil {
		return fmt.Errorf("devserver: expire watches: %w", err)
	}
	crds, err := s.changeCRDs(ctx)
	if err != nil {
		return fmt.Errorf("devserver: expire watches: %w", err)
	}
	// A compaction leaves the newest change, and is a change itself: the second one drops the last
	// change after rev.
	for range 2 {
		if _, err := s.Compact(ctx); err != nil {
			return err
		}
	}
	for i := range crds {
		if err := s.awaitExpired(ctx, &crds[i], rev); err != nil {
			return fmt.Errorf("devserver: expire watches: wait until the history of %s is gone: %w", crds[i].Name, err)
		}
	}
	_, err = s.EndWatches(ctx)
	return err
}

func (s *Server) running() error {
	select {
	case <-s.stopping:
		return errors.New("the server is stopped")
	case <-s.done:
		return errors.New("the server is stopped")
	default:
		return nil
	}
}

// changeCRDs makes a meaningless change to each CRD and returns the CRDs before the change, without
// those deleted meanwhile.
func (s *Server) changeCRDs(ctx context.Context) ([]apiextensionsv1.CustomResourceDefinition, error) {
	client, err := clientset.NewForConfig(s.loop.config())
	if err != nil {
		return nil, err
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	list, err := crds.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list CRDs: %w", err)
	}
	var changed []apiextensionsv1.CustomResourceDefinition
	for _, crd := range list.Items {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			now, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			toggleBlank(now)
			_, err = crds.Update(ctx, now, metav1.UpdateOptions{})
			return err
		})
		switch {
		case err == nil:
			changed = append(changed, crd)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("change CRD %s: %w", crd.Name, err)
		}
	}
	return changed, nil
}

func toggleBlank(crd *apiextensionsv1.CustomResourceDefinition) {
	for i := range crd.Spec.Versions {
		v := crd.Spec.Versions[i].Schema
		if v == nil || v.OpenAPIV3Schema == nil {
			continue
		}
		if text, had := strings.CutSuffix(v.OpenAPIV3Schema.Description, " "); had {
			v.OpenAPIV3Schema.Description = text
		} else {
			v.OpenAPIV3Schema.Description += " "
		}
	}
}

func (s *Server) awaitExpired(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, rev int64) error {
	client := &http.Client{Transport: s.loop.transport}
	for _, v := range crd.Spec.Versions {
		if !v.Served || !isEstablished(crd) {
			continue
		}
		url := "http://loopback/apis/" + crd.Spec.Group + "/" + v.Name + "/" + crd.Spec.Names.Plural +
			"?watch=true&timeoutSeconds=1&resourceVersion=" + strconv.FormatInt(rev, 10)
		if err := poll(ctx, func(ctx context.Context) error { return askExpired(ctx, client, url) }); err != nil {
			return err
		}
	}
	return nil
}

// expiryDelay is longer than the error 410 takes: etcd checks every tenth of a second for watches
// that are behind.
const expiryDelay = 500 * time.Millisecond

// askExpired opens a watch, and returns nil if its first event is the error 410, or if the resource
// is gone.
func askExpired(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, expiryDelay)
	defer cancel()
	resp, err := get(ctx, client, url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusGone || resp.StatusCode == http.StatusNotFound {
		return nil
	}
	var event struct {
		Type   string        `json:"type"`
		Object metav1.Status `json:"object"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&event); err != nil {
		return fmt.Errorf("the old history is still served: %w", err)
	}
	if event.Type != "ERROR" || event.Object.Code != http.StatusGone {
		return fmt.Errorf("the old history is still served: event %s", event.Type)
	}
	return nil
}
