// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"context"
	"encoding/json"
	"fmt"
	"go/constant"
	"go/types"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator/diag"
)

// Cluster is an API server to read samples from. NewCluster makes one. It must not be used by
// several goroutines at once.
type Cluster struct {
	// Set once at construction.
	client *http.Client
	server string
	groups []apiGroup

	resources map[string][]apiResource // by the path of a version, what has been asked for
}

// sampleSize is how many objects of a kind a Cluster reads at most.
const sampleSize = 500

// apiGroup, apiResource and those below are what servers tell about themselves, as far as it is
// needed.
type apiGroup struct {
	Name             string       `json:"name"`
	Versions         []apiVersion `json:"versions"`
	PreferredVersion apiVersion   `json:"preferredVersion"`
}

type apiVersion struct {
	Version string `json:"version"`
}

type apiResource struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Verbs []string `json:"verbs"`
}

// NewCluster asks the API server at an address such as "https://10.0.0.1:6443" for its groups. The
// client must send requests with the credentials that the server wants.
func NewCluster(ctx context.Context, client *http.Client, server string) (*Cluster, error) {
	c := &Cluster{client: client, server: strings.TrimSuffix(server, "/"), resources: map[string][]apiResource{}}
	var answer struct {
		Groups []apiGroup `json:"groups"`
	}
	if err := c.get(ctx, "/apis", &answer); err != nil {
		return nil, err
	}
	v1 := apiVersion{"v1"}
	c.groups = append([]apiGroup{{"", []apiVersion{v1}, v1}}, answer.Groups...)
	return c, nil
}

// Sample reads at most 500 objects of each kind that can have a projection. For each kind of which
// it can't, one of the findings, which are warnings, tells why.
func (c *Cluster) Sample(ctx context.Context, kinds []*Kind) (*Sample, diag.List) {
	s := &Sample{byType: map[*types.TypeName][]map[string]any{}}
	var problems diag.List
	for _, k := range kinds {
		if named, ok := k.Projection(); !ok || len(named) == 0 {
			continue
		}
		objects, err := c.objects(ctx, k)
		if err != nil {
			problems.Add(diag.Diagnostic{Warning: true, Message: fmt.Sprintf("reading %s objects of package %s from the cluster: %v", k.Name, k.Package, err)})
			continue
		}
		s.byType[k.typ.Obj()] = objects
	}
	return s, problems
}

// objects lists objects of a kind.
func (c *Cluster) objects(ctx context.Context, k *Kind) ([]map[string]any, error) {
	resource, err := c.resource(ctx, k)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := c.get(ctx, fmt.Sprintf("%s?limit=%d", resource, sampleSize), &list); err != nil {
		return nil, err
	}
	return list.Items[:min(len(list.Items), sampleSize)], nil // not all servers know the limit
}

// resource returns the path of the one resource that has objects of a kind.
func (c *Cluster) resource(ctx context.Context, k *Kind) (string, error) {
	group, groupKnown := groupOf(k.typ.Obj().Pkg())
	version := path.Base(k.Package)
	if !versionName.MatchString(version) {
		version = ""
	}
	var found []string
	var failed error
	for _, g := range c.groups {
		if groupKnown && g.Name != group {
			continue
		}
		at := version
		if version == "" {
			at = g.PreferredVersion.Version
		} else if !slices.Contains(g.Versions, apiVersion{version}) {
			continue
		}
		resources, err := c.resourcesOf(ctx, g.Name, at)
		if err != nil {
			failed = err
			continue
		}
		for _, r := range resources {
			if r.Kind == k.Name && !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") {
				found = append(found, versionPath(g.Name, at)+"/"+r.Name)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("it is not known which of %s has them: take a file of objects with --sample", strings.Join(found, " and "))
	case failed != nil:
		return "", failed
	}
	where := ""
	if version != "" {
		where = " in version " + version
	}
	if group != "" {
		where += " of " + group
	}
	return "", fmt.Errorf("the server has no such kind%s: is its CustomResourceDefinition installed?", where)
}

// versionName matches names of API versions, which the import paths of packages often end with.
var versionName = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// groupOf returns the API group of a package, which many of them have as a constant.
func groupOf(p *types.Package) (group string, ok bool) {
	name, ok := p.Scope().Lookup("GroupName").(*types.Const)
	if !ok || name.Val().Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(name.Val()), true
}

func versionPath(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// resourcesOf returns the resources of a version, for which it asks once.
func (c *Cluster) resourcesOf(ctx context.Context, group, version string) ([]apiResource, error) {
	at := versionPath(group, version)
	if resources, ok := c.resources[at]; ok {
		return resources, nil
	}
	var answer struct {
		Resources []apiResource `json:"resources"`
	}
	if err := c.get(ctx, at, &answer); err != nil {
		return nil, err
	}
	c.resources[at] = answer.Resources
	return answer.Resources, nil
}

// get reads what is at a path of the server into a value. Its errors have nothing of objects in
// them.
func (c *Cluster) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var status struct {
			Message string `json:"message"`
		}
		if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&status); err != nil || status.Message == "" {
			status.Message = "no reason is given"
		}
		return fmt.Errorf("GET %s is answered with %s: %s", path, response.Status, strings.Join(strings.Fields(status.Message), " "))
	}
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("the answer to GET %s is no such JSON as an API server sends: %w", path, err)
	}
	return nil
}
