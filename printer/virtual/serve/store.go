package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chit/printer/virtual"
)

// Record is one line of paper.jsonl: one piece of paper.
type Record struct {
	N    int       `json:"n"`
	Time time.Time `json:"time"` // of the cut
	Cut  string    `json:"cut"`  // full, partial, torn
	Text string    `json:"text"`
	// PNG is the picture's file name and SHA256 its digest in lower-case hex; empty without a
	// folder.
	PNG    string `json:"png,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Start and End are offsets in the stream of bytes this printer received since it was started.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// HeightDots is the length of the paper at 203 dpi.
	HeightDots int            `json:"height_dots"`
	Marks      []virtual.Mark `json:"marks,omitempty"`
	Errors     []string       `json:"errors,omitempty"`
}

const journalName = "paper.jsonl"

// store numbers sheets and writes them to a folder, if there is one, readable by nobody else:
// guests' words are on it. Nothing is flushed to disk: it is paper for people and tests, not a
// journal to recover from.
type store struct {
	folder string
	last   int
}

func openStore(folder string) (*store, error) {
	s := &store{folder: folder}
	if folder == "" {
		return s, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("serve: folder for paper: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("serve: reading the folder for paper: %w", err)
	}
	for _, e := range entries {
		var n int
		if _, err := fmt.Sscanf(e.Name(), "%d.png", &n); err == nil {
			s.last = max(s.last, n)
		}
	}
	return s, nil
}

// keep gives the sheet its number and writes it: picture, text, then the line that names them.
func (s *store) keep(sheet virtual.Sheet) (virtual.Sheet, Record, error) {
	s.last++
	sheet.Number = s.last
	r := Record{
		N: sheet.Number, Time: sheet.CutAt, Cut: string(sheet.Cut), Text: sheet.Text(),
		Start: sheet.Start, End: sheet.End, HeightDots: sheet.HeightDots,
		Marks: sheet.Marks, Errors: sheet.Errors(),
	}
	if s.folder == "" {
		return sheet, r, nil
	}
	picture, err := sheet.PNG()
	if err != nil {
		return sheet, r, err
	}
	name := fmt.Sprintf("%04d", sheet.Number)
	digest := sha256.Sum256(picture)
	r.PNG, r.SHA256 = name+".png", hex.EncodeToString(digest[:])
	line, err := json.Marshal(r)
	if err != nil {
		return sheet, r, fmt.Errorf("serve: writing %s: %w", journalName, err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(s.folder, name+".png"), picture, 0o600),
		os.WriteFile(filepath.Join(s.folder, name+".txt"), []byte(r.Text), 0o600))
	if err == nil {
		err = s.append(append(line, '\n'))
	}
	if err != nil {
		return sheet, r, fmt.Errorf("serve: keeping sheet %d: %w", sheet.Number, err)
	}
	return sheet, r, nil
}

func (s *store) append(line []byte) error {
	f, err := os.OpenFile(filepath.Join(s.folder, journalName),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// ReadPaper reads the paper.jsonl of a folder; none at all is an empty list.
func ReadPaper(folder string) ([]Record, error) {
	b, err := os.ReadFile(filepath.Join(folder, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("serve: reading paper: %w", err)
	}
	var records []Record
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if line == "" {
			continue
		}
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return records, fmt.Errorf("serve: %s line %d: %w", journalName, i+1, err)
		}
		records = append(records, r)
	}
	return records, nil
}
