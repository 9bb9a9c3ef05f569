// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

type section struct {
	name  string
	flags *pflag.FlagSet
}

// AddFlags adds kube-controller-manager's flags --controllers and --controller-shutdown-timeout to
// the section "generic", and the flags of each controller to a section with its name. sectionOf
// returns the flag set of a section. It can be the FlagSet method of k8s.io/component-base's
// NamedFlagSets, or return the same flags of a cobra command every time. The current values become
// the defaults. Set Controllers first; /configz shows the values.
func (o *Options) AddFlags(sectionOf func(name string) *pflag.FlagSet) {
	o.setDefaults()
	o.sections = o.ownFlags()
	for _, d := range o.Controllers {
		if d.Flags != nil {
			flags := pflag.NewFlagSet(d.Name, pflag.ContinueOnError)
			d.Flags(flags)
			o.sections = append(o.sections, section{d.Name, flags})
		}
	}
	for _, s := range o.sections {
		sectionOf(s.name).AddFlagSet(s.flags)
	}
}

func (o *Options) ownFlags() []section {
	generic := pflag.NewFlagSet("generic", pflag.ContinueOnError)
	generic.StringSliceVar(&o.Select, "controllers", o.Select, o.selectionHelp())
	generic.DurationVar(&o.ShutdownTimeout, "controller-shutdown-timeout", o.ShutdownTimeout, "how long to wait for controllers at the end of the process")
	return []section{{"generic", generic}}
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

func (o *Options) values() map[string]map[string]string {
	values := map[string]map[string]string{}
	for _, s := range o.sections {
		values[s.name] = map[string]string{}
		s.flags.VisitAll(func(f *pflag.Flag) { values[s.name][f.Name] = f.Value.String() })
	}
	return values
}
