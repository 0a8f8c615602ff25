// Package find lists the printers that a machine can reach, each with the URL to write into a
// configuration. It sends nothing that prints; what it sends at all, package neighbour says.
package find

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"chit/printer/transport/holder"
	"chit/printer/transport/neighbour"
	"chit/printer/transport/usb"
)

// Options say where to look. The zero value is this machine and its own small networks.
type Options struct {
	Roots usb.Roots
	// Subnets are searched instead of the machine's own. They may be large.
	Subnets []netip.Prefix
	// NoNetwork leaves the network out.
	NoNetwork bool
	Sweep     neighbour.Sweep
	// Networks lists the machine's own; nil stands for neighbour.Own.
	Networks func() ([]neighbour.Network, error)
}

// AddressesMax bounds one search, also of a network that was named: 11 minutes at the usual rate.
const AddressesMax = 1 << 16

// ErrTooLarge says that a network has more than AddressesMax addresses.
var ErrTooLarge = errors.New("network is too large to be searched")

// Result is all that was found.
type Result struct {
	USB     []USB     `json:"usb"`
	Blocked []Blocked `json:"blocked"`
	Serial  []Serial  `json:"serial"`
	Network []Network `json:"network"`
	// Searched are the networks that were searched, Skipped those that are too large to be searched
	// without being named.
	Searched []netip.Prefix `json:"searched"`
	Skipped  []netip.Prefix `json:"skipped"`
}

// USB is a printer that usblp drives.
type USB struct {
	URL     string          `json:"url"`
	Vendor  string          `json:"vendor"`
	Product string          `json:"product"`
	Serial  string          `json:"serial,omitempty"`
	Port    string          `json:"port"`
	Node    string          `json:"node"`
	Maker   string          `json:"maker,omitempty"`
	Model   string          `json:"model,omitempty"`
	TwoWay  bool            `json:"two_way"`
	Holders []holder.Holder `json:"holders,omitempty"` // as far as the system tells
}

// Blocked is a printer on USB that usblp does not drive.
type Blocked struct {
	Vendor  string `json:"vendor"`
	Product string `json:"product"`
	Port    string `json:"port"`
	Maker   string `json:"maker,omitempty"`
	Model   string `json:"model,omitempty"`
	Driver  string `json:"driver,omitempty"` // empty where none has it
}

// Serial is a serial adapter. What is plugged into it, no system tells.
type Serial struct {
	URL     string          `json:"url"`
	Node    string          `json:"node"`
	Holders []holder.Holder `json:"holders,omitempty"`
}

// Network is a host that listens on the raw port.
type Network struct {
	URL      string           `json:"url"`
	Address  string           `json:"address"`
	MAC      string           `json:"mac,omitempty"` // where the kernel knows it
	Speaks   bool             `json:"speaks"`        // it answered as receipt printers do
	Offline  bool             `json:"offline,omitempty"`
	Maker    string           `json:"maker,omitempty"` // as it names itself; clones name others
	Model    string           `json:"model,omitempty"`
	Firmware string           `json:"firmware,omitempty"`
	Serial   string           `json:"serial,omitempty"`
	Unasked  neighbour.Reason `json:"unasked,omitempty"`
	Err      string           `json:"error,omitempty"`
}

// Run looks everywhere that o says.
func Run(ctx context.Context, o Options) (Result, error) {
	dev, proc := o.Roots.Dev, o.Roots.Proc
	if dev == "" {
		dev = "/dev"
	}
	if proc == "" {
		proc = "/proc"
	}
	result := Result{
		USB: listUSB(o.Roots, proc), Blocked: listBlocked(o.Roots), Serial: listSerial(dev, proc),
		Network: []Network{}, Searched: []netip.Prefix{}, Skipped: []netip.Prefix{},
	}
	if o.NoNetwork {
		return result, nil
	}
	hosts, err := result.choose(o)
	if err != nil {
		return result, err
	}
	o.Sweep.Skip = neighbour.Connected(proc)
	listeners := o.Sweep.Run(ctx, hosts)
	if err := ctx.Err(); err != nil {
		return result, fmt.Errorf("find: searching the network: %w", err)
	}
	table := neighbour.Table(proc)
	for _, l := range listeners {
		result.Network = append(result.Network, describe(l, table[l.Address.Addr()]))
	}
	return result, nil
}

func listUSB(roots usb.Roots, proc string) []USB {
	found := []USB{}
	all := usb.List(roots)
	for _, p := range all {
		found = append(found, USB{
			URL: name(p, all).String(), Vendor: p.Vendor, Product: p.Product, Serial: p.Serial,
			Port: p.Port, Node: p.Node, Maker: p.Maker, Model: p.Model, TwoWay: p.TwoWay,
			Holders: holder.Of(proc, p.Node),
		})
	}
	return found
}

func listBlocked(roots usb.Roots) []Blocked {
	found := []Blocked{}
	for _, p := range usb.Undriven(roots) {
		found = append(found, Blocked{Vendor: p.Vendor, Product: p.Product, Port: p.Port,
			Maker: p.Maker, Model: p.Model, Driver: p.Driver})
	}
	return found
}

// name is the best name of a printer: its serial number stays with it at every port, but clones
// have none, or all the same one.
func name(p usb.Printer, all []usb.Printer) usb.Match {
	best := usb.Match{Vendor: p.Vendor, Product: p.Product, Serial: p.Serial}
	alike := 0
	for _, other := range all {
		if other.Vendor == p.Vendor && other.Product == p.Product && other.Serial == p.Serial {
			alike++
		}
	}
	_, err := usb.ParseMatch(strings.TrimPrefix(best.String(), "usb:"))
	if p.Serial == "" || alike > 1 || err != nil {
		return usb.Match{Port: p.Port}
	}
	return best
}

func listSerial(dev, proc string) []Serial {
	found := []Serial{}
	nodes, err := filepath.Glob(filepath.Join(dev, "serial", "by-id", "*"))
	if err != nil {
		return found
	}
	for _, node := range nodes {
		at := url.URL{Scheme: "serial", Path: "/dev/serial/by-id/" + filepath.Base(node)}
		found = append(found, Serial{URL: at.String(), Node: node, Holders: holder.Of(proc, node)})
	}
	return found
}

// choose is the hosts to ask; it notes which networks they are.
func (r *Result) choose(o Options) ([]netip.Addr, error) {
	own := map[netip.Addr]bool{}
	networks := o.Networks
	if networks == nil {
		networks = neighbour.Own
	}
	all, err := networks()
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		own[n.Own] = true
		switch {
		case len(o.Subnets) > 0 || slices.Contains(r.Searched, n.Prefix):
		case n.Prefix.Bits() < neighbour.BitsMin:
			r.Skipped = append(r.Skipped, n.Prefix)
		default:
			r.Searched = append(r.Searched, n.Prefix)
		}
	}
	for _, n := range o.Subnets {
		if n.Addr().BitLen()-n.Bits() > 16 {
			return nil, fmt.Errorf("find: %s: %w: at most %d addresses", n, ErrTooLarge, AddressesMax)
		}
		if !slices.Contains(r.Searched, n.Masked()) {
			r.Searched = append(r.Searched, n.Masked())
		}
	}
	var hosts []netip.Addr
	for _, n := range r.Searched {
		for _, a := range neighbour.Hosts(n) {
			if !own[a] {
				hosts = append(hosts, a)
			}
		}
	}
	return hosts, nil
}

func describe(l neighbour.Listener, mac string) Network {
	a := l.Answer
	n := Network{
		Address: l.Address.String(), MAC: mac, Speaks: a.Speaks, Offline: a.Offline, Maker: a.Maker,
		Model: a.Model, Firmware: a.Firmware, Serial: a.Serial, Unasked: l.Unasked,
	}
	if l.Err != nil {
		n.Err = l.Err.Error()
	}
	at := url.URL{Scheme: "tcp", Host: l.Address.String()}
	switch {
	case mac != "":
		at.RawQuery = "mac=" + mac
	case a.Serial != "":
		at.RawQuery = url.Values{"serial": {a.Serial}}.Encode()
	}
	n.URL = at.String()
	return n
}
