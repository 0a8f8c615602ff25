package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"chit/device/wire"
	"chit/device/wire/pairing"
)

// Bounds of pairing codes (DESIGN section 8).
const (
	codeLife     = 10 * time.Minute
	codeTriesMax = 5
	// codesMax bounds how many codes may be alive at once in the installation.
	codesMax = 256
)

// CodeRequest is what a pairing code is made for.
type CodeRequest struct {
	Tenant   string
	Stations []Station
	// Fingerprint binds the code to the keys on a device's slip. Where it is empty the first key
	// that presents the code binds it.
	Fingerprint string
}

// Code is a pairing code as it is shown to the owner, once: only a digest of it is kept.
type Code struct {
	Code    string // "ABCD-EFGH"
	Pairing string // "ABCD-EFGH.<installation>", what chitd is given
	Expires time.Time
}

// codeRecord is a code as it is kept. A slot is used again when its code has ended.
//
//	Open --right code and proof--> Used by one key --same key again--> Used, same answer
//	 |  ^--wrong rest or proof, under 5 tries
//	 +--10 minutes, or the 5th wrong try--> Ended
type codeRecord struct {
	// Head is the first half of the code; it finds the record, so that wrong guesses at the rest are
	// counted against it. Digest covers the whole.
	Head   string    `json:"head"`
	Digest []byte    `json:"digest"`
	Ends   time.Time `json:"ends"`
	Tries  int       `json:"tries"`

	Tenant      string    `json:"tenant"`
	Stations    []Station `json:"stations"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	// Device is the id of the device that used the code, "" before.
	Device string `json:"device,omitempty"`
}

func (c codeRecord) ended(now time.Time) bool {
	return !now.Before(c.Ends) || c.Tries >= codeTriesMax
}

// codeState is what a code says to one request.
type codeState uint8

const (
	codeRight codeState = iota + 1
	// codeWrong is a guess that counts against the code.
	codeWrong
	// codeOver is a code that ended or belongs to another key.
	codeOver
)

// judge compares a presented code, for the keys with this fingerprint, with the record.
func (c codeRecord) judge(code, fingerprint string, now time.Time) codeState {
	sum := sha256.Sum256([]byte(code))
	right := subtle.ConstantTimeCompare(sum[:], c.Digest) == 1
	switch {
	case c.ended(now):
		return codeOver
	case !right:
		return codeWrong
	case c.Fingerprint != "" && c.Fingerprint != fingerprint:
		return codeWrong
	}
	return codeRight
}

func head(code string) string { return code[:pairing.CodeLength/2] }

// NewCode makes a pairing code: 8 characters, 10 minutes, single use.
func (f *Fleet) NewCode(ctx context.Context, r CodeRequest) (Code, error) {
	if err := wire.CheckID(r.Tenant); err != nil {
		return Code{}, fmt.Errorf("fleet: tenant: %w", err)
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	now := f.conf.Now()
	all, err := list[codeRecord](ctx, f.conf.Records, prefixCode)
	if err != nil {
		return Code{}, err
	}
	alive := 0
	slot, over := "", stored[codeRecord]{}
	for key, c := range all {
		if c.value.ended(now) {
			slot, over = key, c
		} else {
			alive++
		}
	}
	if alive >= codesMax {
		return Code{}, fmt.Errorf("fleet: %d pairing codes are alive, expected under %d", alive, codesMax)
	}
	for n := 0; slot == ""; n++ {
		if _, taken := all[strconv.Itoa(n)]; !taken {
			slot = strconv.Itoa(n)
		}
	}
	code, err := f.drawCode(all, now)
	if err != nil {
		return Code{}, err
	}
	sum := sha256.Sum256([]byte(code))
	over.value = codeRecord{
		Head: head(code), Digest: sum[:], Ends: now.Add(codeLife), Tenant: r.Tenant,
		Stations: slices.Clone(r.Stations), Fingerprint: r.Fingerprint,
	}
	if _, err := put(ctx, f.conf.Records, prefixCode+slot, over); err != nil {
		return Code{}, err
	}
	f.conf.Log.Info("pairing code made", "tenant", r.Tenant)
	return Code{
		Code: code, Pairing: pairing.Join(code, f.Installation()), Expires: over.value.Ends,
	}, nil
}

// drawCode draws a code whose first half no living code has.
func (f *Fleet) drawCode(all map[string]stored[codeRecord], now time.Time) (string, error) {
	for {
		code, err := draw(f.random(), pairing.Alphabet, pairing.CodeLength)
		if err != nil {
			return "", err
		}
		if code, err = pairing.NormalCode(code); err != nil {
			return "", err
		}
		taken := false
		for _, c := range all {
			taken = taken || c.value.Head == head(code) && !c.value.ended(now)
		}
		if !taken {
			return code, nil
		}
	}
}

func (f *Fleet) random() io.Reader {
	if f.conf.Random != nil {
		return f.conf.Random
	}
	return rand.Reader
}

// draw gives n characters of an alphabet of 32, so that every byte's low five bits are one of them.
func draw(random io.Reader, alphabet string, n int) (string, error) {
	raw := make([]byte, n)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("fleet: drawing a random name: %w", err)
	}
	for i := range raw {
		raw[i] = alphabet[raw[i]&31]
	}
	return string(raw), nil
}

// findCode returns the living or used record that code speaks of, and its slot.
func (f *Fleet) findCode(ctx context.Context, code string) (string, stored[codeRecord], error) {
	all, err := list[codeRecord](ctx, f.conf.Records, prefixCode)
	if err != nil {
		return "", stored[codeRecord]{}, err
	}
	now := f.conf.Now()
	for slot, c := range all {
		if c.value.Head == head(code) && !c.value.ended(now) {
			return slot, c, nil
		}
	}
	return "", stored[codeRecord]{}, ErrCode
}

// useCode claims code for the keys with this fingerprint and returns its record with the device's
// id in it. The claim is on disk first, so no crash lets two keys use one code. f.writing is held.
func (f *Fleet) useCode(ctx context.Context, code, fingerprint string) (codeRecord, error) {
	for try := 1; ; try++ {
		slot, c, err := f.findCode(ctx, code)
		if err != nil {
			return codeRecord{}, err
		}
		verdict := c.value.judge(code, fingerprint, f.conf.Now())
		switch {
		case verdict == codeRight && c.value.Device != "":
			return c.value, nil // The same key again: its answer was lost on the way.
		case verdict == codeRight:
			c.value.Fingerprint = fingerprint
			if c.value.Device, err = f.deviceID(); err != nil {
				return codeRecord{}, err
			}
		case verdict == codeWrong:
			c.value.Tries++
		default:
			return codeRecord{}, ErrCode
		}
		_, err = put(ctx, f.conf.Records, prefixCode+slot, c)
		switch {
		case errors.Is(err, ErrConflict) && try < changesMax:
			continue
		case err != nil:
			return codeRecord{}, err
		case verdict == codeWrong:
			return codeRecord{}, ErrCode
		}
		return c.value, nil
	}
}

// deviceIDLength characters of base 32 are 80 bits: device ids are unique without asking anybody.
const deviceIDLength = 16

func (f *Fleet) deviceID() (string, error) {
	id, err := draw(f.random(), "abcdefghijklmnopqrstuvwxyz234567", deviceIDLength)
	return "dev-" + id, err
}
