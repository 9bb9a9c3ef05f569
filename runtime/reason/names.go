// SPDX-License-Identifier: Apache-2.0

package reason

var reasonNames = [...]string{
	None:           "none",
	Unauthorized:   "unauthorized",
	Forbidden:      "forbidden",
	WatchForbidden: "watch forbidden",
	NotFound:       "not found",
	Throttled:      "throttled",
	ServerError:    "server error",
	Unreachable:    "unreachable",
	Silent:         "silent",
	NoBookmark:     "no bookmark",
	Refused:        "refused",
	Expired:        "expired",
	TooNew:         "version too new",
	WentBack:       "versions went back",
	Unreadable:     "unreadable in storage",
	BadData:        "bad data",
	Transform:      "transform failed",
	ShortWatch:     "watch closed at once",
	EndlessList:    "endless list",
}

var errorTexts = map[Reason]string{
	Silent:         "the connection was silent for too long",
	NoBookmark:     "the watch-list had no bookmark after its initial events",
	WatchForbidden: "the account may not watch the resource; it is listed instead, if that is allowed",
	WentBack:       "the resource version went backwards",
	ShortWatch:     "the server closed the watch at once",
	EndlessList:    "the list has no end: its continue tokens repeat or its pages stay empty",
}
