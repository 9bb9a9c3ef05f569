// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
)

// backups is the store of the backups, which lies outside of the cluster.
type backups struct{ url string }

// drop deletes the backups of a Database.
func (b *backups) drop(ctx context.Context, db *v1.Database) error {
	url := b.url + "/" + db.Namespace + "/" + db.Name
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
		return fmt.Errorf("DELETE %s: the store answers %s", url, resp.Status)
	}
	return nil
}
