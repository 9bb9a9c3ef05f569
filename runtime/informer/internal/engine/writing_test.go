// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"testing"
)

func TestAStreamGivesAWriterTimeToEnd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the other goroutine runs when this one yields
	i := &Informer{}
	i.writing.Lock()
	if i.tryWriting() {
		t.Fatal("two goroutines write")
	}
	go i.writing.Unlock()
	if !i.tryWriting() {
		t.Error("a writer that was about to end was not waited for")
	}
}
