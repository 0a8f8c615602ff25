package serve

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"chit/printer/transport"
)

// FromURL reads what follows "virtual:" in a printer URL, such as
//
//	virtual:
//	virtual:safe-58?speed=50&fault=paper-out:after=20&fault=silent
//
// that is, a profile's name, then speed in lines a second and faults. Errors wrap
// [transport.ErrURL].
func FromURL(rest string) (Flags, error) {
	name, query, _ := strings.Cut(rest, "?")
	f := Flags{Profile: name}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Flags{}, fmt.Errorf("serve: %w: what follows the question mark cannot be read",
			transport.ErrURL)
	}
	for key, given := range values {
		switch key {
		case "fault":
			f.Faults = given
		case "speed":
			f.LinesPerSecond, err = strconv.ParseFloat(given[0], 64)
			if err != nil || !(f.LinesPerSecond >= 0 && f.LinesPerSecond <= 10_000) {
				return Flags{}, fmt.Errorf("serve: %w: speed %q, expected 0 to 10000 lines a second",
					transport.ErrURL, given[0])
			}
		default:
			return Flags{}, fmt.Errorf("serve: %w: setting %q is unknown, expected speed or fault",
				transport.ErrURL, key)
		}
	}
	if _, err := f.Config(nil); err != nil {
		return Flags{}, fmt.Errorf("serve: %w: %w", transport.ErrURL, err)
	}
	return f, nil
}
