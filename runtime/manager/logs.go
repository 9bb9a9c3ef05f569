// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

const (
	textFormat = "text"
	jsonFormat = "json"
)

// logFlags are the values of the log flags.
type logFlags struct {
	format    formatValue
	verbosity verbosityValue
	files     flag.Value // klog's --vmodule
}

// addLogFlags adds the log flags, and returns their values; nil if the set has such flags.
func addLogFlags(flags *pflag.FlagSet) *logFlags {
	for _, name := range []string{"logging-format", "v", "vmodule"} {
		if flags.Lookup(name) != nil {
			return nil
		}
	}
	if flags.ShorthandLookup("v") != nil {
		return nil
	}
	var own flag.FlagSet
	klog.InitFlags(&own)
	l := &logFlags{files: own.Lookup("vmodule").Value}
	l.verbosity.klog = own.Lookup("v").Value
	if n, err := strconv.Atoi(l.verbosity.String()); err == nil {
		l.verbosity.level.Set(slog.Level(-n))
	}
	l.format = formatValue{name: textFormat, level: &l.verbosity.level}
	flags.Var(&l.format, "logging-format", "format of the logs: text or json")
	flags.VarP(&l.verbosity, "v", "v", "number for the log level verbosity")
	flags.AddGoFlag(own.Lookup("vmodule"))
	flags.Lookup("vmodule").Usage = "comma-separated list of pattern=N settings for file-filtered logging (text format only)"
	return l
}

func (l *logFlags) validate() error {
	if l != nil && l.format.name == jsonFormat && l.files.String() != "" {
		return errors.New("--vmodule works with --logging-format=text only; leave one of them out")
	}
	return nil
}

// formatValue implements [pflag.Value]. It sets klog's logger.
type formatValue struct {
	name  string
	level slog.Leveler // of JSON
}

// Set implements [pflag.Value].
func (f *formatValue) Set(name string) error {
	switch {
	case name != textFormat && name != jsonFormat:
		return errors.New("must be text or json")
	case name == jsonFormat:
		klog.SetSlogLogger(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: f.level})))
	case f.name == jsonFormat:
		klog.ClearLogger()
	}
	f.name = name
	return nil
}

// String implements [pflag.Value].
func (f *formatValue) String() string { return f.name }

// Type implements [pflag.Value].
func (*formatValue) Type() string { return "string" }

// verbosityValue implements [pflag.Value]. It sets klog's verbosity, and that of JSON.
type verbosityValue struct {
	klog  flag.Value
	level slog.LevelVar
}

// Set implements [pflag.Value].
func (v *verbosityValue) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return errors.New("must be a whole number, at least 0, such as 2")
	}
	v.level.Set(slog.Level(-n))
	return v.klog.Set(text)
}

// String implements [pflag.Value].
func (v *verbosityValue) String() string { return v.klog.String() }

// Type implements [pflag.Value].
func (*verbosityValue) Type() string { return "int" }
