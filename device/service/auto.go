package service

import (
	"cmp"
	"log/slog"

	"chit/config"
	"chit/printer/profile"
	"chit/printer/session"
)

// autoProfile in a configuration leaves the profile to what the printer says and does.
const autoProfile = "auto"

// paperDefault is the width in mm of the paper that most kitchens use.
const paperDefault = 80

// paperMM is the width of the printer's paper.
func (p Printer) paperMM() int { return cmp.Or(p.PaperMM, paperDefault) }

// facts is the printer's profile as far as it is known before anybody has spoken to it. The error
// names the field below key.
func (p Printer) facts(key string) (profile.Profile, error) {
	if p.Profile == autoProfile {
		facts, ok := profile.SafeFor(p.paperMM())
		if !ok {
			return facts, config.Field(key+"paper_mm", "found %d, expected 58, 76 or 80", p.PaperMM)
		}
		return facts, nil
	}
	facts, err := profile.ByName(p.Profile)
	switch {
	case err != nil:
		return facts, config.Field(key+"profile", "%v", err)
	case p.paperMM() != paperDefault:
		return facts, config.Field(key+"paper_mm", "found %d, expected none: it belongs to profile = "+
			"%q, and %s says how wide its paper is", p.PaperMM, autoProfile, p.Profile)
	}
	return facts, nil
}

// know takes in what a printer's configuration says of its profile.
func (p paper) know(conf Printer) (err error) {
	if conf.Profile == autoProfile {
		p.auto[conf.Name] = conf.paperMM()
	}
	p.profiles[conf.Name], err = conf.facts("")
	return err
}

// facts is the profile of a printer by what is known of its unit now. A unit that was never spoken
// to has the safe one.
func (p paper) facts(printer string) profile.Profile {
	mm, auto := p.auto[printer]
	if !auto {
		return p.profiles[printer]
	}
	unit, _ := p.unit(printer)
	return profile.Auto(unit, mm)
}

// sayProfile returns a function that logs which profile a unit gets, at its first state and when it
// becomes another one. One goroutine calls it.
func (p Printer) sayProfile(log *slog.Logger) func(session.State) {
	said := ""
	return func(state session.State) {
		if p.Profile != autoProfile || state.Unit.Fingerprint == "" {
			return
		}
		if name := profile.Auto(state.Unit.Fingerprint, p.paperMM()).Name; name != said {
			said = name
			log.Info("printer profile chosen", "printer", p.Name, "profile", name)
		}
	}
}
