// Package neighbour finds printers on the machine's own networks: by the hardware address that the
// kernel has for each neighbour, and by asking who listens on the raw printing port.
//
// It sends nothing that prints. Looking for a hardware address sends a datagram to the discard port
// of each address, for which the kernel asks the network who has it; no printer notices. Asking a
// listener sends DLE EOT 1 and, only to one that has answered as receipt printers do, GS I. Pages
// of control bytes are a known nuisance of port scans, so whatever speaks IPP, as office printers
// do, is not asked. Networks are IPv4 and at most a /24 large, unless a person names a larger one.
package neighbour

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of a search.
const (
	// BitsMin is the largest network that is searched without being named: 254 addresses.
	BitsMin = 24
	// Gap is the pause between two addresses: 100 a second are lost in the traffic of a shop.
	Gap = 10 * time.Millisecond
	// settle is how many gaps the network may take to say who has an address: a second.
	settle = 100
)

// ParseMAC reads a hardware address and spells it in one way: six pairs of lower-case hex with
// colons.
func ParseMAC(text string) (string, error) {
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != 6 {
		return "", fmt.Errorf("hardware address is %.20q, want six pairs of hex digits such as "+
			"00:26:ab:12:34:56", text)
	}
	return mac.String(), nil
}

// Table reads the hardware addresses of the neighbours that the kernel knows now (proc(5),
// /proc/net/arp). Entries that are not complete are left out.
func Table(proc string) map[netip.Addr]string {
	raw, err := os.ReadFile(filepath.Join(proc, "net", "arp"))
	if err != nil {
		return nil
	}
	const complete = 0x2 // ATF_COM
	table := map[netip.Addr]string{}
	for _, line := range strings.Split(string(raw), "\n") {
		f := strings.Fields(line) // address, type, flags, hardware address, mask, device
		if len(f) < 6 {
			continue
		}
		flags, err := strconv.ParseUint(strings.TrimPrefix(f[2], "0x"), 16, 32)
		if err != nil || flags&complete == 0 {
			continue
		}
		address, err := netip.ParseAddr(f[0])
		mac, wrong := ParseMAC(f[3])
		if err == nil && wrong == nil {
			table[address] = mac
		}
	}
	return table
}

// Connected lists the far ends of this machine's open TCP connections (proc(5), /proc/net/tcp): a
// printer that a daemon here has is not asked by anybody else.
func Connected(proc string) map[netip.AddrPort]bool {
	raw, err := os.ReadFile(filepath.Join(proc, "net", "tcp"))
	if err != nil {
		return nil
	}
	const established = "01"
	ends := map[netip.AddrPort]bool{}
	for _, line := range strings.Split(string(raw), "\n") {
		f := strings.Fields(line) // number, local, remote, state
		if len(f) < 4 || f[3] != established {
			continue
		}
		address, port, _ := strings.Cut(f[2], ":")
		quad, err := hex.DecodeString(address)
		number, wrong := strconv.ParseUint(port, 16, 16)
		if err != nil || wrong != nil || len(quad) != 4 {
			continue
		}
		// The kernel prints the address as a number in its own order of bytes.
		var four [4]byte
		binary.NativeEndian.PutUint32(four[:], binary.BigEndian.Uint32(quad))
		ends[netip.AddrPortFrom(netip.AddrFrom4(four), uint16(number))] = true
	}
	return ends
}

// Network is one network that this machine is in.
type Network struct {
	Prefix netip.Prefix // masked
	Own    netip.Addr   // this machine's address in it
	Device string
}

// Own lists the machine's IPv4 networks, without loopback and point-to-point links.
func Own() ([]Network, error) {
	devices, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("neighbour: listing interfaces: %w", err)
	}
	var own []Network
	for _, d := range devices {
		const skip = net.FlagLoopback | net.FlagPointToPoint
		if d.Flags&net.FlagUp == 0 || d.Flags&skip != 0 {
			continue
		}
		addresses, err := d.Addrs()
		if err != nil {
			continue // It went away meanwhile.
		}
		for _, a := range addresses {
			prefix, err := netip.ParsePrefix(a.String())
			if err != nil || !prefix.Addr().Is4() || prefix.Addr().IsLinkLocalUnicast() {
				continue
			}
			own = append(own, Network{Prefix: prefix.Masked(), Own: prefix.Addr(), Device: d.Name})
		}
	}
	return own, nil
}

// Around narrows a network that is too large to the /24 around an address in it.
func Around(n netip.Prefix, a netip.Addr) netip.Prefix {
	if n.Bits() >= BitsMin || !n.Contains(a) {
		return n
	}
	return netip.PrefixFrom(a, BitsMin).Masked()
}

// Hosts lists the addresses of a network that machines have: all but the first and the last, which
// name the network and everybody in it (RFC 1122 section 3.2.1.3), save in a /31 and a /32.
func Hosts(n netip.Prefix) []netip.Addr {
	var hosts []netip.Addr
	for a := n.Masked().Addr(); n.Contains(a); a = a.Next() {
		hosts = append(hosts, a)
	}
	if len(hosts) > 2 {
		return hosts[1 : len(hosts)-1]
	}
	return hosts
}

// Seek looks for a hardware address among hosts: first in what the kernel knows, then by making it
// ask for each, gap apart. It ends early when the address turns up.
func Seek(ctx context.Context, proc, mac string, hosts []netip.Addr, gap time.Duration) (
	netip.Addr, bool,
) {
	if a, found := holding(proc, mac, hosts); found {
		return a, true // It may be old; then the dial that follows makes the kernel forget it.
	}
	tick := time.NewTicker(max(gap, time.Nanosecond))
	defer tick.Stop()
	for i, a := range hosts {
		select {
		case <-ctx.Done():
			return netip.Addr{}, false
		case <-tick.C:
		}
		_ = stir(a) // A network that is unreachable has nobody to find.
		const look = 32
		if i%look == look-1 {
			if a, found := holding(proc, mac, hosts); found {
				return a, true
			}
		}
	}
	if a, found := holding(proc, mac, hosts); found || len(hosts) == 0 {
		return a, found
	}
	timer := time.NewTimer(settle * gap)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return holding(proc, mac, hosts)
}

func holding(proc, mac string, hosts []netip.Addr) (netip.Addr, bool) {
	for a, has := range Table(proc) {
		if has == mac && slices.Contains(hosts, a) {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// stir makes the kernel ask the network who has an address.
func stir(a netip.Addr) error {
	const discard = 9 // RFC 863
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, discard)))
	if err != nil {
		return err
	}
	_, err = c.Write([]byte{0})
	return joined(err, c.Close())
}

func joined(err, closing error) error {
	if err != nil {
		return err
	}
	return closing
}
