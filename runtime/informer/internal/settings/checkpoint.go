// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/checkpoint"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// SetCheckpoint implements WithCheckpoint.
func (s *Settings) SetCheckpoint(dir string, confidential []string) error {
	if slices.Contains(confidential, "") {
		return errors.New("the name of a resource is empty")
	}
	s.CheckpointDir, s.Confidential = dir, strings.Join(confidential, ",")
	return nil
}

// secretResources are written to disk only if named.
var secretResources = []schema.GroupResource{{Resource: "secrets"}}

// checkpointSource is a Source that can have a checkpoint.
type checkpointSource interface {
	Identity() string
	Codec() *decode.Codec
}

// fileOf returns a function that makes an informer's checkpoints; nil without the option.
func (s *Settings) fileOf(name string, streams []intake.StreamConfig) (intake.FileOf, error) {
	if s.CheckpointDir == "" {
		return nil, nil
	}
	fail := func(format string, args ...any) (intake.FileOf, error) {
		return nil, fmt.Errorf("WithCheckpoint: "+format, args...)
	}
	for _, stream := range streams {
		if _, ok := stream.Source.(checkpointSource); !ok {
			return fail("a %T lacks the methods Identity and Codec, which a checkpoint needs; a source.HTTP has them", stream.Source)
		}
		if resource := resourceOf(stream.Source).GroupResource(); slices.Contains(secretResources, resource) && !slices.Contains(strings.Split(s.Confidential, ","), resource.Resource) {
			return fail("objects of %s would be written to disk in plain text; to allow it, name them: WithCheckpoint(dir, %q); without a checkpoint: WithCheckpoint(\"\")",
				resource, resource.Resource)
		}
	}
	config := checkpoint.Config{Dir: s.CheckpointDir, Name: name, Unshared: s.Unshared}
	return func(_ string, src source.Source[object.Object], transform uintptr) (intake.StateFile, error) {
		fileConfig := config
		if transform != 0 {
			var err error
			if fileConfig.Build, err = executableHash(); err != nil {
				return nil, fmt.Errorf("hashing the program, for a checkpoint of transformed objects: %w", err)
			}
		}
		identified, ok := src.(checkpointSource)
		if !ok {
			return nil, fmt.Errorf("a %T lacks the methods Identity and Codec", src)
		}
		fileConfig.Identity, fileConfig.Codec = []string{identified.Identity(), functionName(transform)}, identified.Codec()
		return checkpoint.New(fileConfig), nil
	}, nil
}

func resourceOf(src source.Source[object.Object]) (resource schema.GroupVersionResource) {
	if src, ok := src.(engine.ResourceSource); ok {
		resource = src.Resource()
	}
	return resource
}

func functionName(transform uintptr) string {
	if transform == 0 {
		return ""
	}
	return runtime.FuncForPC(transform).Name()
}

// executableHash returns a hash of the running program.
var executableHash = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})
