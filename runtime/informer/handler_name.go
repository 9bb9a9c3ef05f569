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

// handlerName is the default name of a handler in logs and errors: the first of its functions, else
// the handler's type. That of a FilteringHandler is its Handler's.
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
