// SPDX-License-Identifier: Apache-2.0

// Package shard divides the work of controllers over the replicas of a program.
package shard
