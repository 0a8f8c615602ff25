package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	broker "chit/broker/service"
	"chit/printer/transport"
	"chit/printer/virtual/serve"
)

// lockFolder lets one process have the folder; the lock ends with the process, however it ends.
func lockFolder(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, hinted{errors.Join(fmt.Errorf("--data: %s is in use: %w", dir, err), f.Close()),
			"another chit up is running on this folder"}
	}
	return f.Close, nil
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
	return replaceFile(path, append(raw, '\n'))
}

// ports are the loopback addresses between the two halves. They are kept over restarts, because the
// device remembers where its broker is.
type ports struct {
	MQTT  string `json:"mqtt"`
	HTTPS string `json:"https"`
}

func keptPorts(path string) (ports, error) {
	var p ports
	raw, err := os.ReadFile(path)
	if err == nil {
		if err := json.Unmarshal(raw, &p); err != nil || p.MQTT == "" || p.HTTPS == "" {
			return p, fmt.Errorf("%s: found %q, expected addresses of mqtt and https", path, raw)
		}
		return p, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return p, err
	}
	for _, into := range []*string{&p.MQTT, &p.HTTPS} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return p, fmt.Errorf("choosing a port: %w", err)
		}
		defer l.Close()
		*into = l.Addr().String()
	}
	if raw, err = json.Marshal(p); err != nil {
		return p, err
	}
	return p, replaceFile(path, raw)
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // The broker's own check says what is wrong with it.
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// ownNames are the names and addresses by which others reach this machine.
func ownNames(address string) []string {
	host, _, err := net.SplitHostPort(address)
	if ip, parseErr := netip.ParseAddr(host); err == nil && host != "" &&
		(parseErr != nil || !ip.IsUnspecified()) {
		return []string{host}
	}
	var names []string
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return names
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			names = append(names, n.IP.String())
		}
	}
	return names
}

// localZone is the IANA name of "Local", as far as the machine tells it.
func localZone(zone string) string {
	if zone != "Local" {
		return zone
	}
	if tz := os.Getenv("TZ"); tz != "" {
		if _, err := time.LoadLocation(tz); err == nil {
			return tz
		}
	}
	if raw, err := os.ReadFile("/etc/timezone"); err == nil {
		if name := strings.TrimSpace(string(raw)); name != "" {
			return name
		}
	}
	return "UTC"
}

// virtualPrinters are the virtual: printers of this process, one for each URL, made when first asked
// for.
type virtualPrinters struct {
	dir string
	log *slog.Logger

	mu   sync.Mutex
	made map[string]*serve.Server
}

// Dialer implements the virtual: scheme; its paper is kept under the data folder.
func (v *virtualPrinters) Dialer(rest string) (transport.Dialer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.made[rest]; s != nil {
		return s.Dialer(), nil
	}
	flags, err := serve.FromURL(rest)
	if err != nil {
		return nil, err
	}
	flags.Out, flags.KeepAnswers = v.dir, true
	if len(v.made) > 0 {
		flags.Out = fmt.Sprintf("%s-%d", v.dir, len(v.made)+1)
	}
	c, err := flags.Config(v.log)
	if err != nil {
		return nil, err
	}
	s, err := serve.Start(context.Background(), c)
	if err != nil {
		return nil, fmt.Errorf("virtual printer: %w", err)
	}
	if v.made == nil {
		v.made = map[string]*serve.Server{}
	}
	v.made[rest] = s
	return s.Dialer(), nil
}

// Close ends them all.
func (v *virtualPrinters) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var errs []error
	for _, s := range v.made {
		errs = append(errs, s.Close())
	}
	v.made = nil
	return errors.Join(errs...)
}
