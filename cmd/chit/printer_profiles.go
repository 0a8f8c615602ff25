package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"chit/printer/profile"
)

// profileJSON is one model for machines.
type profileJSON struct {
	Name    string            `json:"name"`
	Vendor  string            `json:"vendor"`
	Model   string            `json:"model"`
	Refused string            `json:"refused,omitempty"`
	Columns int               `json:"columns,omitempty"`
	Width   int               `json:"width_dots,omitempty"`
	Pages   map[string]string `json:"pages,omitempty"`
	// Doubted are pages that sources contradict; nothing is printed with them.
	Doubted map[string]string `json:"doubted,omitempty"`
	Facts   []factJSON        `json:"facts"`
}

type factJSON struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source,omitempty"`
}

func newPrinterProfiles() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "profiles [NAME]",
		Short: "List the printer models that are known, or all that is known of one",
		Long: `Lists the models that can stand at profile in device.toml. With a name it shows every
fact about that model and who says it:

  db        escpos-printer-db
  rpe       ReceiptPrinterEncoder
  epson     Epson's character code tables
  research  makers' manuals and reports of users
  default   nobody: what is safe

A model that is not listed prints with safe-80 (80 mm paper), safe-58 (58 mm) or safe-76 (needles).
Lines "without" are code pages that one source has and another contradicts: nothing is printed with
them. chit printer codepages prints a table that settles such doubts.`,
		Example: "  chit printer profiles\n  chit printer profiles epson-tm-t20iii",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			out := c.OutOrStdout()
			if len(args) == 0 {
				if asJSON {
					return printJSON(out, profilesJSON(profile.All()))
				}
				return writeProfiles(visible(out), profile.All())
			}
			m, err := profile.Find(args[0])
			switch {
			case err != nil:
				return misuse("chit printer profiles lists all", "%w", err)
			case asJSON:
				return printJSON(out, profilesJSON([]profile.Model{m})[0])
			}
			return writeProfile(visible(out), m)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string,
			cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return profile.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	return c
}

func profilesJSON(models []profile.Model) []profileJSON {
	var all []profileJSON
	for _, m := range models {
		p := profileJSON{Name: m.Name, Vendor: m.Vendor, Model: m.Profile.Model, Refused: m.Refused,
			Columns: m.Columns, Width: m.WidthDots, Pages: pagesJSON(m.Pages),
			Doubted: pagesJSON(m.Doubted)}
		for _, f := range m.Facts {
			p.Facts = append(p.Facts, factJSON(f))
		}
		all = append(all, p)
	}
	return all
}

func pagesJSON(pages []profile.Page) map[string]string {
	if len(pages) == 0 {
		return nil
	}
	all := map[string]string{}
	for _, p := range pages {
		all[strconv.Itoa(int(p.Number))] = p.Encoding
	}
	return all
}

func writeProfiles(w io.Writer, models []profile.Model) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "PROFILE\tVENDOR\tMODEL\tDOTS\tCOLUMNS\tPAGES\tSOURCES")
	for _, m := range models {
		if m.Refused != "" {
			fmt.Fprintf(table, "%s\t%s\t%s\t-\t-\t-\trefused\n", m.Name, m.Vendor, m.Profile.Model)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%s\n", m.Name, m.Vendor, m.Profile.Model, m.WidthDots,
			m.Columns, len(m.Pages), sourcesOf(m))
	}
	return table.Flush()
}

// sourcesOf names who knows a model, without remarks.
func sourcesOf(m profile.Model) string {
	var all []string
	for _, source := range []string{"db", "rpe", "epson", "research"} {
		for _, f := range m.Facts {
			words := strings.FieldsFunc(f.Source, func(r rune) bool {
				return strings.ContainsRune(" ,;:", r)
			})
			if len(words) > 0 && (words[0] == source || len(words) > 1 && words[1] == source) {
				all = append(all, source)
				break
			}
		}
	}
	return strings.Join(all, " ")
}

func writeProfile(w io.Writer, m profile.Model) error {
	fmt.Fprintln(w, m.Name)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, f := range m.Facts {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", f.Name, f.Value, f.Source)
	}
	return table.Flush()
}
