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

// ReadCRDs reads CRDs from YAML or JSON files of fsys, such as an embed.FS or os.DirFS. A name is a
// file or a folder; no names mean all of fsys. Files may have several documents. A named file must
// hold only CRDs. Of a folder and its subfolders, all .yaml, .yml and .json files are read, in the
// order of their names, and documents of other kinds are skipped.
//
// Reading is strict: unknown and duplicate fields are errors. All errors are reported at once, each
// with the file's name and the document's number, counted from 1. An error about a missing name
// satisfies errors.Is(err, fs.ErrNotExist).
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
// of them CRDs. name is the file's name in errors. It is as strict as [ReadCRDs].
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

// parseCRD returns nil for an empty document and, unless onlyCRDs, for one of another kind.
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
