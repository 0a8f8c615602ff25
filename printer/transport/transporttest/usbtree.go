package transporttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Tree is the part of a machine's /sys, /dev and /proc that shows USB printers, in a folder.
type Tree struct {
	t    *testing.T
	Root string // with sys, dev and proc below
}

// Device is a USB printer in a [Tree].
type Device struct {
	Port            string // such as 1-1.2
	Vendor, Product string // four hex digits
	Serial          string
	Maker, Model    string
	Protocol        string // of the interface; empty: 02, which can answer
	Driver          string // empty: usblp; - for none
}

// NewTree makes an empty one.
func NewTree(t *testing.T) *Tree {
	t.Helper()
	tree := &Tree{t: t, Root: t.TempDir()}
	for _, folder := range []string{"sys/class/usbmisc", "sys/bus/usb/devices", "dev/usb", "proc"} {
		tree.folder(folder)
	}
	return tree
}

func (x *Tree) at(path string) string { return filepath.Join(x.Root, path) }

func (x *Tree) folder(path string) {
	x.t.Helper()
	if err := os.MkdirAll(x.at(path), 0o755); err != nil {
		x.t.Fatal(err)
	}
}

func (x *Tree) write(path, text string) {
	x.t.Helper()
	if err := os.WriteFile(x.at(path), []byte(text+"\n"), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

func (x *Tree) link(target, path string) {
	x.t.Helper()
	if err := os.Symlink(target, x.at(path)); err != nil {
		x.t.Fatal(err)
	}
}

// Plug shows a device; node is its name, such as lp0, or empty where usblp does not drive it. It
// returns the node's path.
func (x *Tree) Plug(d Device, node string) string {
	x.t.Helper()
	device := "sys/devices/usb1/" + d.Port
	face := device + "/" + d.Port + ":1.0"
	x.folder(face)
	for name, text := range map[string]string{
		"idVendor": d.Vendor, "idProduct": d.Product, "serial": d.Serial,
		"manufacturer": d.Maker, "product": d.Model,
	} {
		if text != "" {
			x.write(device+"/"+name, text)
		}
	}
	x.write(face+"/bInterfaceClass", "07")
	if d.Protocol == "" {
		d.Protocol = "02"
	}
	x.write(face+"/bInterfaceProtocol", d.Protocol)
	if d.Driver == "" {
		d.Driver = "usblp"
	}
	if d.Driver != "-" {
		x.link("../../../../bus/usb/drivers/"+d.Driver, face+"/driver")
	}
	x.link("../../../devices/usb1/"+d.Port+"/"+d.Port+":1.0", "sys/bus/usb/devices/"+d.Port+":1.0")
	if node == "" {
		return ""
	}
	x.folder("sys/class/usbmisc/" + node)
	x.write("sys/class/usbmisc/"+node+"/uevent", "MAJOR=180\nMINOR=0\nDEVNAME=usb/"+node)
	x.link("../../../devices/usb1/"+d.Port+"/"+d.Port+":1.0", "sys/class/usbmisc/"+node+"/device")
	return x.at("dev/usb/" + node)
}

// Unplug takes away the device at a port and its node.
func (x *Tree) Unplug(port, node string) {
	x.t.Helper()
	for _, path := range []string{
		"sys/devices/usb1/" + port, "sys/bus/usb/devices/" + port + ":1.0", "sys/class/usbmisc/" + node,
	} {
		if err := os.RemoveAll(x.at(path)); err != nil {
			x.t.Fatal(err)
		}
	}
}

// Hold shows a process that has a node open.
func (x *Tree) Hold(pid, program, node string) {
	x.t.Helper()
	x.folder("proc/" + pid + "/fd")
	x.write("proc/"+pid+"/comm", program)
	x.link(node, "proc/"+pid+"/fd/7")
}
