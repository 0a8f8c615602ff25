package main

// module is the path of this repository's module.
const module = "chit"

// Bounds (STYLE, "How do I lay out a package?").
const (
	linesMax    = 500
	columnsMax  = 100
	functionMax = 70
)

// exception excuses one problem of one file. Text is a part of the problem's text.
type exception struct {
	Rule, File, Text string
	Reason           string
}

// exceptions are problems that stay. Each says why.
var exceptions = []exception{
	{
		"exit", "failpoint/on.go", "os.Exit",
		"a failpoint ends the process in the middle of whatever it is doing: that is its job",
	},
}

// pure lists the starred packages of DESIGN section 3: no clock, network, files, goroutines,
// randomness or logging. Folders under them are pure too, except those in impure.
var pure = []string{
	"printer/document", "printer/profile", "printer/escpos", "printer/status", "printer/raster",
	"printer/virtual", "device/wire", "device/core", "device/layout", "broker/entity", "broker/order",
	"broker/slot", "broker/billing", "broker/ledger", "broker/kitchen", "broker/customer",
	"broker/inbox", "broker/courier", "broker/sandbox", "broker/delivery", "broker/alarm",
}

// impure are folders under a pure package that touch the world on its behalf.
var impure = map[string]string{
	"printer/virtual/serve": "puts the pure printer on a network socket, with a clock and files",
}

// borrowed are packages without a star whose values a pure package may speak of, without calling
// what touches the world; by pure package and imported one.
var borrowed = map[[2]string]string{
	{"device/core", "printer/session"}: "what a printer's session says and is asked are plain values",
}

// impureImports may not be imported by pure packages. A trailing slash means everything below.
var impureImports = []string{
	"os", "os/", "net", "net/http", "net/http/", "net/rpc", "net/smtp", "net/textproto", "net/mail",
	"math/rand", "math/rand/", "crypto/rand", "log", "log/", "syscall", "io/ioutil", "runtime/",
	"database/", "plugin", "expvar", "testing",
}

// clockCalls are functions of package time that read the clock or wait.
var clockCalls = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true,
	"NewTimer": true, "NewTicker": true, "Tick": true,
}

// layer says what the packages below a folder may import of ours: other folders and everything
// below them. The first layer whose folder holds the package counts; imports run as an order runs
// (DESIGN section 3: cmd -> broker -> device/wire -> printer/document, cmd -> device -> printer).
type layer struct {
	dir string
	may []string
}

var layers = []layer{
	{"printer", []string{"printer"}},
	{"device/wire", []string{"device/wire", "printer/document"}},
	{"device", []string{"device", "printer", "boltfile", "config", "failpoint", "metrics"}},
	{"broker", []string{"broker", "device/wire", "boltfile", "config", "failpoint", "metrics"}},
	{"boltfile", nil},
	{"config", nil},
	{"failpoint", nil},
	{"metrics", nil},
	{"monitoring", []string{"rig", "broker", "device", "printer"}},
	{"judges", []string{"printer"}},
	{"systemd", nil},
	{"firmware", nil},
	{"cmd/tidy", nil},
	{"rig", []string{"rig", "broker", "device", "printer", "config", "failpoint", "metrics", "cmd"}},
	{"simulate", []string{"simulate", "broker", "device", "printer"}},
	{"crash", []string{"rig", "broker", "device", "printer", "config", "failpoint", "metrics"}},
	{"crashdisk", []string{"broker", "device", "printer"}},
	{"bench", []string{"rig", "broker", "device", "printer", "config", "failpoint", "metrics"}},
	{"cmd", []string{
		"cmd", "broker", "device", "printer", "config", "failpoint", "metrics", "rig",
		"simulate",
	}},
}

// crossing are imports by tests alone that run against the layers, by importing package and
// imported one, with the reason.
var crossing = map[[2]string]string{
	{"broker/fleet", "device/identity"}: "the two ends of pairing are examined together",
}

// library is one outside module and who may import it. Rule: one importer for each; more need a
// reason here.
type library struct {
	path      string
	importers []string
	reason    string
}

var libraries = []library{
	{"go.etcd.io/bbolt", []string{"broker/store/bolt", "device/journal"},
		"one store on each side (STYLE)"},
	{"github.com/eclipse/paho.mqtt.golang", []string{
		"device/link", "broker/link", "broker/link/linktest",
	}, "the device's client, the broker's for outside engines, and the exam of both"},
	{"github.com/mochi-mqtt/server/v2", []string{"broker/link"}, ""},
	{"periph.io/x/conn/v3", []string{"device/panel"}, ""},
	{"periph.io/x/host/v3", []string{"device/panel"}, ""},
	{"github.com/go-jose/go-jose/v4", []string{"device/wire"}, ""},
	{"github.com/gowebpki/jcs", []string{"device/wire"}, ""},
	{"github.com/santhosh-tekuri/jsonschema/v6", []string{"device/wire"}, ""},
	{"github.com/pelletier/go-toml/v2", []string{"config"}, ""},
	{"github.com/rivo/uniseg", []string{"printer/escpos"}, ""},
	{"rsc.io/qr", []string{"printer/escpos"}, ""},
	{"github.com/coreos/go-systemd/v22", []string{"device/health", "broker/service"},
		"each program tells systemd about itself"},
	{"github.com/prometheus/client_golang", []string{"metrics"}, ""},
	{"github.com/spf13/cobra", []string{"cmd/chit"}, ""},
	{"github.com/coder/websocket", []string{"broker/link"}, ""},
	{"github.com/boombuler/barcode", []string{"printer/virtual"}, ""},
	{"golang.org/x/image", []string{"printer/raster", "printer/virtual", "simulate/chart"},
		"one draws what code pages cannot spell, one the paper, one the letters of a plot"},
	{"golang.org/x/text", []string{
		"printer/escpos/codepage", "printer/escpos/ideograph", "printer/raster",
	}, "one has code pages and NFC, one the ideographs, one the direction of every character"},
	{"github.com/go-text/typesetting", []string{"printer/raster"}, ""},
	{"golang.org/x/term", []string{"cmd/chit/demo"}, ""},
	{"github.com/hanwen/go-fuse/v2", []string{"crashdisk"}, ""},
	{"golang.org/x/sys", nil, "anybody: system calls are as good as the standard library"},
	{"golang.org/x/sync", nil, "anybody: as good as the standard library"},
}

// testLibraries may be imported by any test and by packages that are there for tests.
var testLibraries = map[string]bool{
	"pgregory.net/rapid": true, "github.com/rogpeppe/go-internal": true,
	"github.com/jonboulle/clockwork": true,
}

// forbiddenFolders say nothing about the work (STYLE, "Where does a thing live?").
var forbiddenFolders = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "types": true,
	"misc": true, "lib": true, "shared": true,
}

// unfinished are words that say a file is not done. They are written apart here so that this file
// passes its own rule.
var unfinished = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
