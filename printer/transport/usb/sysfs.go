package usb

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Printer is one printer that usblp drives, as sysfs describes it.
type Printer struct {
	Node            string // such as /dev/usb/lp0; another one after each plugging
	Vendor, Product string // four lower-case hex digits
	Serial          string // empty where it says none
	Port            string // such as 1-1.2: bus 1, port 1, port 2 of the hub there
	Maker, Model    string // as the device names itself; clones name others
	TwoWay          bool   // the interface can answer

	// Driver has one that usblp does not drive; empty where none has it.
	Driver string
}

// protocolOneWay is the bInterfaceProtocol of a printer that can say nothing (USB Printer Class
// 1.1, section 4.4: 01 unidirectional, 02 bidirectional, 03 IEEE 1284.4).
const protocolOneWay = "01"

// List finds the printers that usblp drives, in the order of their ports. A printer that goes away
// while it is read is left out.
func List(roots Roots) []Printer {
	roots = roots.withDefaults()
	nodes, err := filepath.Glob(filepath.Join(roots.Sys, "class", "usbmisc", "lp[0-9]*"))
	if err != nil {
		return nil
	}
	var found []Printer
	for _, node := range nodes {
		// The node's device is the interface; the interface's folder is in the device's.
		face, err := filepath.EvalSymlinks(filepath.Join(node, "device"))
		if err != nil {
			continue
		}
		if p, ok := describe(face); ok {
			p.Node = filepath.Join(roots.Dev, deviceName(node))
			found = append(found, p)
		}
	}
	inOrder(found)
	return found
}

// Undriven finds printers that are plugged in and that usblp does not drive, so that they have no
// node.
func Undriven(roots Roots) []Printer {
	roots = roots.withDefaults()
	faces, err := filepath.Glob(filepath.Join(roots.Sys, "bus", "usb", "devices", "*:*"))
	if err != nil {
		return nil
	}
	var found []Printer
	for _, link := range faces {
		face, err := filepath.EvalSymlinks(link)
		if err != nil || attribute(face, "bInterfaceClass") != "07" {
			continue
		}
		driver, err := os.Readlink(filepath.Join(face, "driver"))
		if err == nil {
			driver = filepath.Base(driver)
		}
		if p, ok := describe(face); ok && driver != "usblp" {
			p.Driver = driver
			found = append(found, p)
		}
	}
	inOrder(found)
	return found
}

func inOrder(found []Printer) {
	slices.SortFunc(found, func(a, b Printer) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Node, b.Node))
	})
}

// describe reads the interface in folder face and the device above it.
func describe(face string) (Printer, bool) {
	device := filepath.Dir(face)
	p := Printer{
		Vendor:  strings.ToLower(attribute(device, "idVendor")),
		Product: strings.ToLower(attribute(device, "idProduct")),
		Serial:  attribute(device, "serial"),
		Port:    filepath.Base(device),
		Maker:   attribute(device, "manufacturer"),
		Model:   attribute(device, "product"),
		TwoWay:  attribute(face, "bInterfaceProtocol") != protocolOneWay,
	}
	return p, p.Vendor != "" && p.Product != ""
}

// attribute reads one file of sysfs; empty where there is none.
func attribute(folder, name string) string {
	raw, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// deviceName is where the node lies below /dev, as the kernel tells udev.
func deviceName(node string) string {
	for _, line := range strings.Split(attribute(node, "uevent"), "\n") {
		if name, found := strings.CutPrefix(line, "DEVNAME="); found {
			return name
		}
	}
	return filepath.Join("usb", filepath.Base(node))
}
