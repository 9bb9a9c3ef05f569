// SPDX-License-Identifier: Apache-2.0

//go:build race

package share

func init() { raceDetector = true }
