package main

import (
	"net"
	"net/netip"
	"os"
)

// isLoopback tells whether a door at address is for this machine alone.
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

// checkAddress refuses what is no host:port with a port that there is.
func checkAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return misuse("such as "+flag+" 127.0.0.1:8080",
			"%s: found %q, expected host:port", flag, address)
	}
	return nil
}

// portOf is the port of an address, "" where there is none.
func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}
