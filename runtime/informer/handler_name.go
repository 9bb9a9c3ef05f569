// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"reflect"
	"runtime"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
)

func (h HandlerFuncs[T]) funcs() [3]any { return [3]any{h.AddFunc, h.UpdateFunc, h.DeleteFunc} }

func (h FilteringHandler[T]) filtered() any { return h.Handler }

// handlerName returns a handler's default name in logs and errors: its first function or, without
// functions, its type. A FilteringHandler has the name of its Handler.
func handlerName(handler any) string {
	for {
		h, ok := handler.(interface{ filtered() any })
		if !ok || settings.IsNil(h.filtered()) {
			break
		}
		handler = h.filtered()
	}
	if h, ok := handler.(interface{ funcs() [3]any }); ok {
		for _, fn := range h.funcs() {
			if v := reflect.ValueOf(fn); !v.IsNil() {
				return runtime.FuncForPC(v.Pointer()).Name()
			}
		}
	}
	return fmt.Sprintf("%T", handler)
}
