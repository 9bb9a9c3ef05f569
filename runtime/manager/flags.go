// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags adds the flags of the manager to flags, except those whose names are taken, and the
// flags of each controller. Set Controllers first. The current values become the defaults.
//
//	--controllers                 Select
//	--controller-shutdown-timeout ShutdownTimeout
//	--address                     Address
//	--tls-cert-file               CertFile
//	--tls-private-key-file        KeyFile
//	--logging-format              text, as klog writes it, or json
//	-v, --v                       klog's verbosity
//	--vmodule                     klog's verbosity by file, for text only
//
// The last three configure klog for the whole process as soon as they are parsed. They are left out
// together if one of their names is taken, or the shorthand -v: then the program configures klog.
//
// /configz shows all flags that the set has when [New] is called, the program's own included. It
// shows no hidden ones: call [pflag.FlagSet.MarkHidden] for a flag whose value is secret.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.setDefaults()
	o.flags = flags
	flags.AddFlagSet(o.ownFlags())
	o.logs = addLogFlags(flags)
	for _, d := range o.Controllers {
		if d.Flags != nil {
			d.Flags(flags)
		}
	}
}

func (o *Options) ownFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	flags.StringSliceVar(&o.Select, "controllers", o.Select, o.selectionHelp())
	flags.DurationVar(&o.ShutdownTimeout, "controller-shutdown-timeout", o.ShutdownTimeout, "how long to wait for controllers at the end of the process")
	flags.StringVar(&o.Address, "address", o.Address, "the host:port that serves health, metrics and debug pages; empty for none")
	flags.StringVar(&o.CertFile, "tls-cert-file", o.CertFile, "PEM file of the certificate to serve HTTPS with at --address")
	flags.StringVar(&o.KeyFile, "tls-private-key-file", o.KeyFile, "PEM file of the key of --tls-cert-file")
	return flags
}

func (o *Options) selectionHelp() string {
	all := slices.SortedFunc(slices.Values(o.Controllers), func(a, b Descriptor) int { return cmp.Compare(a.Name, b.Name) })
	off := slices.DeleteFunc(slices.Clone(all), func(d Descriptor) bool { return !d.Disabled })
	var text strings.Builder
	text.WriteString("the controllers to run: 'foo' runs controller foo, '-foo' leaves it out, '*' runs all that are not disabled by default")
	if len(all) > 0 {
		text.WriteString("\nAll controllers: " + namesOf(all))
	}
	if len(off) > 0 {
		text.WriteString("\nDisabled by default: " + namesOf(off))
	}
	return text.String()
}

// shownFlags returns the flags for /configz. pflag's own iteration isn't safe for several requests.
func (o *Options) shownFlags() (shown []*pflag.Flag) {
	flags := o.flags
	if flags == nil {
		flags = o.ownFlags()
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown = append(shown, f)
		}
	})
	return shown
}
