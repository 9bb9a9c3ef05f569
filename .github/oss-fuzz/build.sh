#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
#
# Builds all fuzz targets of the repository for OSS-Fuzz, which runs this file in the image of the
# Dockerfile beside it. A new target needs no line here.

export GOWORK=off # a target is built with the libraries of its own module

targets=$(git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go')
while IFS=: read -r file function; do # path/to/x_test.go:func FuzzX
	folder=$(dirname "$file") function=${function#func }
	name=${folder//\//_}_$function
	cd "$SRC/informer-gen/$folder"
	compile_native_go_fuzzer_v2 "$(go list .)" "$function" "$name"
	[[ -e $OUT/$name ]] || { echo "$function of $folder was not built" >&2; exit 1; }
done <<<"$targets"
