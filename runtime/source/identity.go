// SPDX-License-Identifier: Apache-2.0

package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
)

// trustOf returns a text that differs for servers with different certificate authorities.
func trustOf(config *rest.Config) (string, error) {
	authority := config.CAData
	if len(authority) == 0 && config.CAFile != "" {
		var err error
		if authority, err = os.ReadFile(config.CAFile); err != nil {
			return "", err
		}
	}
	if len(authority) == 0 {
		return config.ServerName, nil
	}
	sum := sha256.Sum256(authority)
	return config.ServerName + " " + hex.EncodeToString(sum[:]), nil
}

func (c *collection) identity() string {
	o := &c.options
	dropped := slices.Sorted(slices.Values(o.DropAnnotations))
	return fmt.Sprintf("server %q trust %q resource %q namespace %q labels %q fields %q shard %q kind %q managedFields %v without %q",
		c.client.base.Redacted(), c.client.trust, strings.Join([]string{c.gvr.Group, c.gvr.Version, c.gvr.Resource}, "/"), o.Namespace,
		o.LabelSelector, o.FieldSelector, o.ShardSelector, o.Kind, !o.DropManagedFields, dropped)
}
