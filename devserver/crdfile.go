// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// ReadCRDs reads CRDs from YAML or JSON files of fsys, for example of an embed.FS or of os.DirFS. A
// name is a file or a folder; no name means all of fsys. Files may have several documents. A file
// that is named must hold only CRDs. Of a folder all files that end in .yaml, .yml or .json are
// read, with those of its subfolders, in the order of their names, and documents of other kinds are
// left out.
//
// Reading is strict: fields that a CRD doesn't have, and fields that are there twice, are errors.
// All errors are reported at once, each with the file's name and the document's number, counted
// from 1. A name that isn't there satisfies errors.Is(err, fs.ErrNotExist).
func ReadCRDs(fsys fs.FS, names ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if len(names) == 0 {
		names = []string{"."}
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	var errs []error
	read := func(file string, onlyCRDs bool) {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			errs = append(errs, fmt.Errorf("read CRDs: %w", err))
			return
		}
		found, err := parseCRDs(file, data, onlyCRDs)
		crds = append(crds, found...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, name := range names {
		name = path.Clean(name)
		info, err := fs.Stat(fsys, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("read CRDs: %w", err))
			continue
		}
		if !info.IsDir() {
			read(name, true)
			continue
		}
		err = fs.WalkDir(fsys, name, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(file)) {
				read(file, false)
			}
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("read CRDs: %w", err))
		}
	}
	return crds, errors.Join(errs...)
}

// ParseCRDs reads CRDs from the text of a YAML or JSON file, which may have several documents, all
// of them CRDs. Name stands for the file in errors; otherwise it is as strict as ReadCRDs.
func ParseCRDs(name string, data []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return parseCRDs(name, data, true)
}

func parseCRDs(name string, data []byte, onlyCRDs bool) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	var errs []error
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for number := 1; ; number++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var crd *apiextensionsv1.CustomResourceDefinition
		if err == nil {
			crd, err = parseCRD(doc, onlyCRDs)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: document %d: %w", name, number, err))
		} else if crd != nil {
			crds = append(crds, crd)
		}
	}
	return crds, errors.Join(errs...)
}

// parseCRD returns nil for a document without content and, unless onlyCRDs, for one of another
// kind.
func parseCRD(doc []byte, onlyCRDs bool) (*apiextensionsv1.CustomResourceDefinition, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &kind); err != nil {
		return nil, err
	}
	gvk := kind.GroupVersionKind()
	if gvk.Kind != "CustomResourceDefinition" || gvk.Group != apiextensionsv1.GroupName {
		var content any
		if err := yaml.Unmarshal(doc, &content); err == nil && content == nil || !onlyCRDs {
			return nil, nil
		}
		return nil, fmt.Errorf("not a CustomResourceDefinition of %s, but kind %q of apiVersion %q",
			apiextensionsv1.SchemeGroupVersion, kind.Kind, kind.APIVersion)
	}
	if gvk.Version != apiextensionsv1.SchemeGroupVersion.Version {
		return nil, fmt.Errorf("apiVersion %s is no longer served; write the CRD as %s", kind.APIVersion, apiextensionsv1.SchemeGroupVersion)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(doc, crd); err != nil {
		return nil, err
	}
	if crd.Name == "" {
		return nil, errors.New("the CRD has no metadata.name")
	}
	return crd, nil
}
