// SPDX-License-Identifier: Apache-2.0

package devservertest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/devserver"
)

// manifests are the objects of files that concern webhooks.
type manifests struct {
	mutating   []*admissionv1.MutatingWebhookConfiguration
	validating []*admissionv1.ValidatingWebhookConfiguration
	crds       []*apiextensionsv1.CustomResourceDefinition
}

// readWebhooks reads files and folders. It reports all errors at once.
func readWebhooks(paths []string) (*manifests, error) {
	found := &manifests{}
	if err := errors.Join(readDocuments(paths, found.parse), found.patchCRDs()); err != nil {
		return nil, err
	}
	if len(found.mutating)+len(found.validating)+len(found.crds) == 0 {
		return nil, errors.New("there are neither webhook configurations nor CRDs")
	}
	return found, nil
}

// readDocuments calls parse with each document of files and folders, with their subfolders. It
// reports all errors at once.
func readDocuments(paths []string, parse func(doc []byte) error) error {
	var errs []error
	for _, path := range paths {
		errs = append(errs, filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
				errs = append(errs, readFile(file, parse))
			}
			return nil
		}))
	}
	return errors.Join(errs...)
}

func readFile(file string, parse func(doc []byte) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var errs []error
	for number := 1; ; number++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err == nil {
			err = parse(doc)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: document %d: %w", file, number, err))
		}
	}
}

func (found *manifests) parse(doc []byte) error {
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(doc, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "MutatingWebhookConfiguration":
		return parseConfiguration(doc, &head, &found.mutating)
	case "ValidatingWebhookConfiguration":
		return parseConfiguration(doc, &head, &found.validating)
	case "CustomResourceDefinition":
		crds, err := devserver.ParseCRDs("CRD", doc)
		found.crds = append(found.crds, crds...)
		return err
	}
	return nil
}

func parseConfiguration[T any](doc []byte, head *metav1.PartialObjectMetadata, all *[]*T) error {
	switch {
	case head.APIVersion != admissionv1.SchemeGroupVersion.String():
		return fmt.Errorf("apiVersion %q is not served; write the %s as %s", head.APIVersion, head.Kind, admissionv1.SchemeGroupVersion)
	case head.Name == "":
		return fmt.Errorf("the %s has no metadata.name", head.Kind)
	}
	one := new(T)
	if err := yaml.UnmarshalStrict(doc, one); err != nil {
		return err
	}
	*all = append(*all, one)
	return nil
}

// patchCRDs applies the CRDs without versions to those of the same names.
func (found *manifests) patchCRDs() error {
	var whole, patches []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range found.crds {
		if len(crd.Spec.Versions) > 0 {
			whole = append(whole, crd)
		} else {
			patches = append(patches, crd)
		}
	}
	found.crds = whole
	var errs []error
	for _, patch := range patches {
		n := slices.IndexFunc(whole, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == patch.Name })
		switch {
		case n < 0:
			errs = append(errs, fmt.Errorf("CRD %s has no versions, so it is a patch, but no file has the CRD; name its folder too", patch.Name))
		case patch.Spec.Conversion != nil:
			whole[n].Spec.Conversion = patch.Spec.Conversion
		}
	}
	return errors.Join(errs...)
}
