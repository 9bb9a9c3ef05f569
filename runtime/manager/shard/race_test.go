// SPDX-License-Identifier: Apache-2.0

//go:build race

package shard

func init() { raceDetector = true }
