// Package status reads what a printer says back.
package status

import "errors"

// ErrNotStatus says that a byte's fixed bits are not those of the answer asked for.
var ErrNotStatus = errors.New("not a status byte")
