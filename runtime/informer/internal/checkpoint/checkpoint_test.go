// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// codecOf returns a codec of the objects that newObject makes.
func codecOf(resource string, newObject func() object.Object) *decode.Codec {
	c, err := decode.New(decode.Options{Resource: corev1.SchemeGroupVersion.WithResource(resource), NewObject: newObject})
	if err != nil {
		panic(err)
	}
	return c
}

func podCodec() *decode.Codec { return codecOf("pods", func() object.Object { return &corev1.Pod{} }) }

func pods(n int) (all []object.Object) {
	labels := map[string]string{"app": "web"}
	for i := range n {
		all = append(all, &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("pod-", i), UID: "1", ResourceVersion: fmt.Sprint(i + 1), Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "web:1"}}},
		})
	}
	return all
}

func newFile(c Config) *File {
	if c.Codec == nil {
		c.Codec = podCodec()
	}
	return New(c)
}

func write(t testing.TB, f *File, version string, objects []object.Object) State {
	t.Helper()
	state := State{ResourceVersion: version, Saved: time.Unix(1e9, 7), Objects: len(objects)}
	state, err := f.Write(state, slices.Values(objects))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(f.Path()); err != nil || info.Size() != state.Bytes {
		t.Errorf("Stat of the file: %v, %v, want %d bytes", info, err, state.Bytes)
	}
	return state
}

func read(f *File) (objects []object.Object, state State, err error) {
	state, err = f.Read(func(obj object.Object) error {
		objects = append(objects, obj)
		return nil
	})
	return objects, state, err
}

func TestWriteThenRead(t *testing.T) {
	f := newFile(Config{Dir: filepath.Join(t.TempDir(), "new", "deep"), Name: "Pods.v1 in namespace \"shop\""})
	if _, _, err := read(f); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Read without a file: %v, want ErrNotExist", err)
	}
	for _, n := range []int{3000, 0, 1} {
		all := pods(n)
		state := write(t, f, fmt.Sprint(n+1), all)
		got, read, err := read(f)
		if err != nil || read != state || !reflect.DeepEqual(got, all) {
			t.Fatalf("Read() = %d objects, %v, %v; want %d, %v", len(got), read, err, n, state)
		}
	}
	if name := filepath.Base(f.Path()); !strings.HasPrefix(name, "pods.v1_in_namespace__shop_-") || !strings.HasSuffix(name, extension) {
		t.Errorf("the file is named %s", name)
	}
}

// TestFilePermissions shows that only the user may read the file and its directory.
func TestFilePermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	f := newFile(Config{Dir: filepath.Join(t.TempDir(), "new")})
	write(t, f, "1", pods(1))
	for path, want := range map[string]fs.FileMode{f.Path(): 0o600, filepath.Dir(f.Path()): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("the mode of %s is %v, want %v; %v", path, info.Mode(), want, err)
		}
	}
}

// TestReadDetectsDamage changes each byte of a file, and truncates the file after each, for both
// files.
func TestReadDetectsDamage(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir()})
	state := write(t, f, "17", pods(3))
	t.Run("objects", func(t *testing.T) { damage(t, f, f.Path()) })
	write(t, f, "17", pods(3))
	advance(t, f, state, "18")
	t.Run("version", func(t *testing.T) { damage(t, f, f.Path()+versionExtension) })
}

func damage(t *testing.T, f *File, path string) {
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(f); err == nil {
			t.Errorf("Read() = nil for %s, want an error", what)
		}
	}
	for at := range whole {
		try(fmt.Sprintf("the first %d bytes", at), whole[:at])
		for _, change := range []byte{1, 0x80} {
			damaged := bytes.Clone(whole)
			damaged[at] ^= change
			try(fmt.Sprintf("a change of byte %d", at), damaged)
		}
	}
	try("an additional byte", append(bytes.Clone(whole), 0))
	try("a file twice", append(bytes.Clone(whole), whole...))
}

// TestWrongFiles reads files of other formats and identities.
func TestWrongFiles(t *testing.T) {
	dir := t.TempDir()
	mine := Config{Dir: dir, Name: "pods", Identity: []string{"a", "b"}}
	f := newFile(mine)
	for _, tc := range []struct {
		what    string
		content []byte
		want    error
	}{
		{"another file", []byte("apiVersion: v1\nkind: ConfigMap\n"), errNotCheckpoint},
		{"a newer file", []byte(magicPrefix + "5\nwhatever it is"), errFormat},
		{"an empty file", nil, errDamaged},
		{"no head", []byte(magic + "1234"), errDamaged},
		{"a size beyond its end", append(f.appendHead([]byte(magic), &head{})[:len(magic)+len(f.identity)+len(fileID{})+16], 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4), errDamaged},
	} {
		if err := os.WriteFile(f.Path(), tc.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(f); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.what, err, tc.want)
		}
	}
	for what, other := range map[string]Config{
		"another build":       {Name: "pods", Identity: mine.Identity, Build: "2"},
		"another name":        {Name: "nodes", Identity: mine.Identity},
		"another identity":    {Name: "pods", Identity: []string{"ab"}},
		"without sharing":     {Name: "pods", Identity: mine.Identity, Unshared: true},
		"another type":        {Name: "pods", Identity: mine.Identity, Codec: codecOf("nodes", func() object.Object { return &corev1.Node{} })},
		"a type of that name": {Name: "pods", Identity: mine.Identity, Codec: codecOf("pods", func() object.Object { return &Pod{} })},
	} {
		other.Dir = dir
		g := newFile(other)
		if (g.Path() == f.Path()) != (other.Build != "") {
			t.Errorf("%s: Path() = %s, the first is %s", what, g.Path(), f.Path())
		}
		write(t, g, "1", nil)
		if err := os.Rename(g.Path(), f.Path()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(f); !errors.Is(err, errOtherIdentity) {
			t.Errorf("%s: Read: %v, want %v", what, err, errOtherIdentity)
		}
	}
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(f); !errors.Is(err, errNotCheckpoint) {
		t.Errorf("a directory: %v", err)
	}
}

// Pod is a second type with that name.
type Pod struct{ corev1.Pod }

// TestFailedWriteKeepsTheOldFile shows that a failed Write changes no file and leaves no other.
func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir(), Codec: codecOf("pods", func() object.Object { return &unstructured.Unstructured{} })})
	state := write(t, f, "1", nil)
	bad := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}, "func": func() {}}}
	_, err := f.Write(State{ResourceVersion: "2", Objects: 1}, slices.Values([]object.Object{bad}))
	if err == nil || !strings.Contains(err.Error(), "object x: ") {
		t.Errorf("Write() = %v, want an error that names the object", err)
	}
	if _, now, err := read(f); err != nil || now != state {
		t.Errorf("Read() after a failed Write = %v, %v, want %v", now, err, state)
	}
	left, err := os.ReadDir(filepath.Dir(f.Path()))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files after a failed Write, want 1; %v", len(left), err)
	}
}

// TestWriteRefusesTooLargeObjects writes an object that the decoder would refuse.
func TestWriteRefusesTooLargeObjects(t *testing.T) {
	f, all := newFile(Config{Dir: t.TempDir()}), pods(1)
	all[0].SetAnnotations(map[string]string{"large": strings.Repeat("x", 16<<20)})
	if _, err := f.Write(State{ResourceVersion: "2", Objects: 1}, slices.Values(all)); err == nil || !strings.Contains(err.Error(), "object shop/pod-0: ") {
		t.Errorf("Write() = %v, want an error that names the object", err)
	}
}

// TestOldTempFilesAreRemoved shows that Write removes old temporary files of its path.
func TestOldTempFilesAreRemoved(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir()})
	old, young, other := f.Path()+".1"+tempSuffix, f.Path()+".2"+tempSuffix, f.Path()+"x.3"+tempSuffix
	for _, path := range []string{old, young, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{old, other} {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-2*staleAge)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, f, "1", nil)
	for path, want := range map[string]bool{old: false, young: true, other: true, f.Path(): true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s exists: %v, want %v", path, err == nil, want)
		}
	}
}

// TestCheckpointDirectoryNotWritable has a file in the place of the directory.
func TestCheckpointDirectoryNotWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFile(Config{Dir: filepath.Join(file, "dir")})
	if _, err := f.Write(State{ResourceVersion: "1"}, slices.Values(pods(0))); err == nil {
		t.Error("Write() = nil, want an error")
	}
}

// FuzzRead reads files of any content with right checksums, and writes the result again.
func FuzzRead(f *testing.F) {
	file := newFile(Config{Dir: f.TempDir()})
	write(f, file, "17", pods(3))
	whole, err := os.ReadFile(file.Path())
	if err != nil {
		f.Fatal(err)
	}
	content := whole[len(magic) : len(whole)-checksumSize]
	id := content[len(file.identity):][:len(fileID{})]
	for _, version := range [][]byte{nil, id, appendVersion(bytes.Clone(id), State{ResourceVersion: "18"})} {
		f.Add(content, version)
	}
	f.Fuzz(func(t *testing.T, content, version []byte) {
		for path, content := range map[string][]byte{file.path: content, file.path + versionExtension: version} {
			if _, err := replace(path, func(w io.Writer) error {
				_, err := w.Write(content)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		all, state, err := read(file)
		if err != nil {
			return
		}
		if len(all) != state.Objects || state.ResourceVersion == "" {
			t.Errorf("Read() = %d objects, %+v", len(all), state)
		}
		// The state can be written and read again.
		written := write(t, file, state.ResourceVersion, all)
		if again, now, err := read(file); err != nil || now != written || !equality.Semantic.DeepEqual(again, all) {
			t.Errorf("Read() after Write = %d objects, %+v, %v; want %d, %+v", len(again), now, err, len(all), written)
		}
	})
}
