package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	broker "chit/broker/service"
	"chit/device/identity"
	"chit/rig"
)

// errLocked says that another process has the lock.
var errLocked = errors.New("in use by another process")

// lockFile makes path and locks it; the lock ends with the process, however it ends.
func lockFile(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	return f.Close, nil
}

// lockFolder lets one chit up have the folder.
func lockFolder(dir string) (unlock func() error, err error) {
	unlock, err = lockFile(filepath.Join(dir, "lock"))
	if errors.Is(err, errLocked) {
		return nil, hinted{fmt.Errorf("--data: %s is in use", dir),
			"another chit up is running on this folder"}
	}
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return unlock, nil
}

// ownerToken reads the owner's token, or makes it on the first start: 32 random bytes.
func ownerToken(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err == nil {
		token := strings.TrimSpace(string(raw))
		if token == "" {
			return "", hinted{fmt.Errorf("%s is empty, expected the owner's token", path),
				"remove the file to get a new token"}
		}
		return token, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the owner's token: %w", err)
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("making the owner's token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString(secret)
	return token, replaceFile(path, []byte(token+"\n"))
}

// replaceFile writes a file as a whole or not at all.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // Made with mode 0600.
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

func writeAddresses(path string, a broker.Addresses) error {
	raw, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, raw) {
		return nil // A full disk must not keep a shop closed over what it says already.
	}
	return replaceFile(path, raw)
}

// ports are the loopback addresses between the two halves. They are kept over restarts, because the
// device remembers where its broker is.
type ports struct {
	MQTT  string `json:"mqtt"`
	HTTPS string `json:"https"`
}

// keptPorts reads the ports, or chooses them on the first start. Where the file is gone, the device
// in identityDir still knows the way to its broker, and would look nowhere else.
func keptPorts(path, identityDir string) (ports, error) {
	var p ports
	raw, err := os.ReadFile(path)
	if err == nil {
		if err := json.Unmarshal(raw, &p); err != nil || p.MQTT == "" || p.HTTPS == "" {
			return p, hinted{fmt.Errorf("%s: found %q, expected addresses of mqtt and https", path, raw),
				"remove the file: it is made again"}
		}
		return p, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return p, err
	}
	free, err := rig.FreePorts(2)
	if err != nil {
		return p, fmt.Errorf("choosing ports: %w", err)
	}
	p.MQTT, p.HTTPS = free[0], free[1]
	id, err := identity.Open(identityDir)
	switch {
	case err == nil:
		p.MQTT, p.HTTPS = loopbackOf(id.MQTT(), p.MQTT), loopbackOf(id.URL(), p.HTTPS)
	case !errors.Is(err, identity.ErrNotEnrolled):
		return p, fmt.Errorf("the device's keys: %w", err)
	}
	if raw, err = json.Marshal(p); err != nil {
		return p, err
	}
	return p, replaceFile(path, raw)
}

// loopbackOf is the host:port of a URL on loopback, else otherwise.
func loopbackOf(address, otherwise string) string {
	u, err := url.Parse(address)
	if err != nil || u.Port() == "" || !isLoopback(u.Host) {
		return otherwise
	}
	return u.Host
}
