// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
)

func entryLiteral(t types.Type, l jsonpath.Selector, path, mapType string) (string, *jsonpath.Error) {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return "", jsonpath.Errorf(l.Offset, "the keys of %s (%s) can't be written in a path: use func with a function that returns the keys", path, mapType)
	}
	switch {
	case b.Info()&types.IsString != 0:
		return strconv.Quote(l.Key), nil
	case b.Info()&types.IsBoolean != 0:
		if l.Key != "true" && l.Key != "false" {
			return "", jsonpath.Errorf(l.Offset, "the keys of %s (%s) are true and false", path, mapType)
		}
		return l.Key, nil
	case b.Info()&types.IsInteger != 0:
		if problem := integerProblem(l.Key, b); problem != "" {
			return "", jsonpath.Errorf(l.Offset, "%q isn't a key of %s (%s): %s", l.Key, path, mapType, problem)
		}
		return l.Key, nil
	}
	return "", jsonpath.Errorf(l.Offset, "the keys of %s (%s) can't be written in a path: use func with a function that returns the keys", path, mapType)
}

// integerProblem returns the reason why text is no decimal integer of type b; empty if it is one.
func integerProblem(text string, b *types.Basic) string {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > 1 && digits[0] == '0' || text == "-0" {
		return "it isn't a decimal integer"
	}
	low, high := integerRange(b)
	v := constant.MakeFromLiteral(digits, token.INT, 0)
	if len(digits) < len(text) {
		v = constant.UnaryOp(token.SUB, v, 0)
	}
	if constant.Compare(v, token.LSS, low) || constant.Compare(v, token.GTR, high) {
		return fmt.Sprintf("it is out of the range of %s, which is %s to %s", b.Name(), low.ExactString(), high.ExactString())
	}
	return ""
}

func integerRange(b *types.Basic) (low, high constant.Value) {
	switch b.Kind() {
	case types.Int8:
		return constant.MakeInt64(math.MinInt8), constant.MakeInt64(math.MaxInt8)
	case types.Int16:
		return constant.MakeInt64(math.MinInt16), constant.MakeInt64(math.MaxInt16)
	case types.Int32:
		return constant.MakeInt64(math.MinInt32), constant.MakeInt64(math.MaxInt32)
	case types.Uint8:
		return constant.MakeInt64(0), constant.MakeInt64(math.MaxUint8)
	case types.Uint16:
		return constant.MakeInt64(0), constant.MakeInt64(math.MaxUint16)
	case types.Uint32:
		return constant.MakeInt64(0), constant.MakeInt64(math.MaxUint32)
	case types.Uint, types.Uint64:
		return constant.MakeInt64(0), constant.MakeUint64(math.MaxUint64)
	}
	return constant.MakeInt64(math.MinInt64), constant.MakeInt64(math.MaxInt64)
}
