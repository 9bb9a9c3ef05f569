// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/types"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/generator/config"
	"github.com/informer-gen/informer-gen/internal/generator/names"
)

// Controller is a program with a controller, which [Project.Write] writes. The templates in folder
// program read its fields.
type Controller struct {
	// Kind is the name of the API type in Go, and Plural its plural.
	Kind, Plural string
	// API is the import path of its package.
	API string
	// Group, Version and Resource are those of its API; GroupFrom tells how a new type got its
	// group.
	Group, GroupFrom, Version, Resource string
	// Namespaced tells whether objects belong to namespaces.
	Namespaced bool
	// ObservedGeneration tells whether the status has a field of this name.
	ObservedGeneration bool
	// New means that the type is written, too.
	New bool
	// Accessor is the informer's expression behind a factory, such as "Shop().V1().Widgets()".
	Accessor string
	// Informers and Listers are import paths of generated packages, and Package is that of the
	// controller, with the name PackageName.
	Informers, Listers, Package, PackageName string
	// Name is the program's.
	Name string
	// Folder is the folder of the program, with slashes, relative to the project; "." is beside
	// go.mod.
	Folder string
	// CRDs is the folder of the CustomResourceDefinitions, relative to the project. ToRoot leads
	// from Folder to the project: "." or "../..".
	CRDs, ToRoot string
	// CRDFiles are the files in CRDs.
	CRDFiles []string
	// Go is the language version of the image that builds the program.
	Go string
	// Header is the licence, with a blank line behind it.
	Header string

	apiFolder   string // of the type, with slashes, relative to the project
	definesCRDs bool   // go generate has to write the definition
}

// Devserver is the package of devserver.
const Devserver = "github.com/informer-gen/informer-gen/devserver/cmd/devserver"

const (
	newVersion = "v1"
	newCRDs    = "config/crd/bases"
)

// ControllerGen is the package of controller-gen, and ControllerGenVersion the version that the
// written code was tested with.
const (
	ControllerGen        = "sigs.k8s.io/controller-tools/cmd/controller-gen"
	ControllerGenVersion = "v0.23.0"
)

// Types inspects the API types of the project, by an informer-gen.yaml that is there.
func (p *Project) Types(ctx context.Context) ([]generator.InspectedType, error) {
	if len(p.packages) == 0 {
		return nil, nil
	}
	found, err := generator.Inspect(ctx, p.inspection())
	if err != nil {
		return nil, err
	}
	if errs, _ := found.Findings.Split(); len(errs) > 0 {
		return nil, errs
	}
	return found.Types, nil
}

func (p *Project) inspection() generator.Config {
	if p.exists(config.FileName) {
		return generator.Config{Dir: p.Dir}
	}
	return generator.Config{Dir: p.Dir, File: generator.NoFile, Patterns: p.Inputs, Discover: &p.Discover}
}

// Control adds a program with a controller of an existing type.
func (p *Project) Control(t generator.InspectedType, folder string) error {
	c := &Controller{
		Kind: t.Name, Plural: t.Plural.Text, API: t.Package,
		Group: t.Group.Text, Version: t.Version.Text, Resource: t.Resource.Text, Namespaced: t.Scope.Text == "Namespaced",
		Accessor: strings.TrimPrefix(t.Accessor, "factory."),
		CRDs:     newCRDs, definesCRDs: len(p.CRDs) == 0,
	}
	if len(p.CRDs) > 0 {
		c.CRDs = p.CRDs[0]
	}
	source := t.Pos.Filename
	if !filepath.IsAbs(source) {
		source = filepath.Join(p.Dir, source)
	}
	if err := c.readStatus(source); err != nil {
		return fmt.Errorf("%s of package %s can't have the controller that init writes, which reports the condition Ready in the status: %w", t.Name, t.Package, err)
	}
	if c.definesCRDs {
		c.apiFolder = p.slashed(filepath.Dir(source))
	}
	return p.addController(c, names.Folder(t.GroupGoName.Text), folder)
}

// ControlNew adds a program with a controller of a new type, and the type. An empty group stands
// for one made from the module's path.
func (p *Project) ControlNew(kind, group, folder string) error {
	if !names.IsExported(kind) || strings.Contains(kind, "_") {
		return fmt.Errorf("%q isn't the name of a kind: write a Go name that begins with a capital letter%s", kind, names.SuggestExported(camel(kind)))
	}
	c := &Controller{
		Kind: kind, Version: newVersion, Namespaced: true, New: true, ObservedGeneration: true,
		Group: group, CRDs: newCRDs, definesCRDs: true, apiFolder: "api/" + newVersion,
		Plural:   namer.NewPublicPluralNamer(map[string]string{"Endpoints": "Endpoints"}).Name(&types.Type{Name: types.Name{Name: kind}}),
		Resource: strings.ToLower(flect.Pluralize(kind)),
	}
	if group == "" {
		c.Group, c.GroupFrom = groupOf(p.Module), "the path of the module"
	}
	if wrong := validation.IsDNS1123Subdomain(c.Group); len(wrong) > 0 || !strings.Contains(c.Group, ".") {
		return fmt.Errorf("%q isn't a group of custom resources: write a domain name with a dot, such as --group shop.example.com", c.Group)
	}
	first, _, _ := strings.Cut(c.Group, ".")
	var goName strings.Builder
	for word := range strings.SplitSeq(first, "-") {
		goName.WriteString(names.UpperFirst(word))
	}
	if !names.IsExported(goName.String()) || slices.Contains(factoryMethods, goName.String()) {
		return fmt.Errorf("group %q can't be called %s in Go: choose one whose first part begins with a letter, such as --group shop.example.com", c.Group, goName.String())
	}
	if p.hasGo(c.apiFolder) {
		return fmt.Errorf("there is no type %s, and %s, where init would write it, has other Go files: write the type there, and run init again", kind, c.apiFolder)
	}
	c.API = path.Join(p.Module, c.apiFolder)
	c.Accessor = goName.String() + "()." + names.UpperFirst(newVersion) + "()." + c.Plural + "()"
	if !slices.ContainsFunc(p.Inputs, func(pattern string) bool { return covers(pattern, c.apiFolder) }) || len(p.packages) == 0 {
		if len(p.packages) == 0 {
			p.Inputs = nil
		}
		p.Inputs = append(p.Inputs, "./api/...")
	}
	p.CRDs = []string{newCRDs}
	return p.addController(c, names.Folder(goName.String()), folder)
}

// factoryMethods are names that no group can have in Go.
var factoryMethods = []string{"Base", "ForResource", "Shutdown", "SharedInformerFactory", "Start", "WaitForCacheSync"}

// camel turns wid-get into WidGet.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' }) {
		b.WriteString(names.UpperFirst(word))
	}
	return b.String()
}

// addController completes c and adds it.
func (p *Project) addController(c *Controller, group, folder string) error {
	output, err := p.generated(c)
	if err != nil {
		return err
	}
	c.Folder = path.Clean(filepath.ToSlash(folder))
	if folder == "" {
		c.Folder = "."
	}
	if !filepath.IsLocal(filepath.FromSlash(c.Folder)) {
		return fmt.Errorf("--program %s is outside of the module: name a folder below %s", folder, p.Dir)
	}
	c.ToRoot = "."
	if c.Folder != "." {
		c.ToRoot = strings.TrimSuffix(strings.Repeat("../", 1+strings.Count(c.Folder, "/")), "/")
	}
	c.Informers = path.Join(p.Module, output, "informers")
	c.Listers = path.Join(p.Module, output, "listers", group, names.Folder(names.UpperFirst(c.Version)))
	if c.PackageName = names.Folder(c.Kind); templateWords()[c.PackageName] {
		c.PackageName += "controller"
	}
	c.Package = path.Join(p.Module, c.Folder, "internal/controller", c.PackageName)
	c.Name = label(strings.ToLower(lastOf(p.Module)))
	if c.Folder != "." {
		c.Name = label(strings.ToLower(path.Base(c.Folder)))
	}
	c.CRDFiles = p.crdFiles(c.CRDs)
	if c.definesCRDs {
		c.CRDFiles = []string{c.Group + "_" + c.Resource + ".yaml"}
	}
	c.Go = strings.TrimPrefix(toolGo, "go")
	if p.RaisedGo() == "" && p.Go != "" {
		c.Go = langOf(p.Go)
	}
	if header := strings.TrimSpace(string(buildLine.ReplaceAll(p.header, nil))); header != "" {
		c.Header = header + "\n\n"
	}
	p.Controller = c
	return nil
}

// generated returns the output folder that an existing informer-gen.yaml has, or the usual one.
func (p *Project) generated(c *Controller) (string, error) {
	const usual = "generated"
	if !p.exists(config.FileName) {
		return usual, nil
	}
	data, err := os.ReadFile(filepath.Join(p.Dir, config.FileName))
	if err != nil {
		return "", fmt.Errorf("reading the configuration file: %w", err)
	}
	file, wrong := config.Parse(p.Relative(config.FileName), data)
	if len(wrong) > 0 {
		return "", wrong
	}
	if file.Layout.Text == string(generator.Single) {
		return "", errors.New("informer-gen.yaml has the layout single, and the controller needs the layout grouped: change it, or write the controller as docs/controllers.md shows")
	}
	if covered := func(pattern string) bool { return covers(pattern, c.apiFolder) }; c.New && len(file.Inputs) > 0 && !slices.ContainsFunc(config.Texts(file.Inputs), covered) {
		return "", fmt.Errorf("the inputs in informer-gen.yaml leave out %s, where init would write the type %s: add ./api/... to them", c.apiFolder, c.Kind)
	}
	if file.Output.Text != "" {
		return path.Clean(filepath.ToSlash(file.Output.Text)), nil
	}
	return usual, nil
}

// covers reports whether a pattern of packages matches a folder of the module.
func covers(pattern, folder string) bool {
	dir, ok := strings.CutSuffix(pattern, "/...")
	dir = path.Clean(dir)
	return dir == folder || ok && below(folder, dir)
}

// hasGo reports whether a folder has Go files.
func (p *Project) hasGo(folder string) bool {
	found, _ := filepath.Glob(filepath.Join(p.Dir, filepath.FromSlash(folder), "*.go"))
	return len(found) > 0
}

// crdFiles returns the YAML files in a folder, without its kustomization.
func (p *Project) crdFiles(folder string) (files []string) {
	entries, _ := os.ReadDir(filepath.Join(p.Dir, filepath.FromSlash(folder)))
	for _, entry := range entries {
		if ext := path.Ext(entry.Name()); (ext == ".yaml" || ext == ".yml") && !entry.IsDir() && entry.Name() != "kustomization.yaml" {
			files = append(files, entry.Name())
		}
	}
	return files
}

// lastOf returns the last element of a module's path, without its major version.
func lastOf(modulePath string) string {
	if prefix, _, ok := module.SplitPathVersion(modulePath); ok {
		modulePath = prefix
	}
	return path.Base(modulePath)
}

// groupOf makes an API group of a module's path: shop.example.com of example.com/shop, and
// shop.example.com of shop.
func groupOf(modulePath string) string {
	if prefix, _, ok := module.SplitPathVersion(modulePath); ok {
		modulePath = prefix
	}
	elements := strings.Split(strings.ToLower(modulePath), "/")
	host := "example.com"
	if strings.Contains(elements[0], ".") {
		host, elements = elements[0], elements[1:]
	}
	var parts []string
	for _, element := range slices.Backward(elements) {
		parts = append(parts, label(element))
	}
	return strings.Join(append(parts, host), ".")
}

// label returns text as a DNS label.
func label(text string) string {
	text = strings.Trim(notInLabel.ReplaceAllString(text, "-"), "-")
	if text == "" {
		return "program"
	}
	return text
}

var notInLabel = regexp.MustCompile(`[^a-z0-9]+`)

// langOf returns 1.26 of 1.26.3.
func langOf(goVersion string) string {
	parts := strings.SplitN(goVersion, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
