package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// retiredMax bounds the numbers tried for a retired journal's name.
const retiredMax = 1000

// Retire puts the journal at path aside, unread and unchanged, under the first free name
// path.retired-1, path.retired-2 …, and returns that name: the memory of one tenant must not speak
// for another (DESIGN section 4, journal identity). The file must be closed. Without a file it
// returns "".
func Retire(path string) (string, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	for n := 1; n <= retiredMax; n++ {
		aside := path + ".retired-" + strconv.Itoa(n)
		switch _, err := os.Lstat(aside); {
		case err == nil:
			continue
		case !errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("journal: retiring %s: %w", path, err)
		}
		err := os.Rename(path, aside)
		if err = errors.Join(err, syncDir(filepath.Dir(path))); err != nil {
			return "", fmt.Errorf("journal: retiring %s: %w", path, err)
		}
		return aside, nil
	}
	return "", fmt.Errorf("journal: retiring %s: %d retired ones are there already", path, retiredMax)
}
