package link

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"
)

func TestConfigNamesTheFieldThatIsWrong(t *testing.T) {
	good := Config{Address: "tls://broker:8883", TLS: &tls.Config{}, Tenant: "t1", Device: "d1"}
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string // part of the error, "" is none
	}{
		{"as it should be", func(*Config) {}, ""},
		{"plain on loopback", func(c *Config) { c.Address = "tcp://127.0.0.1:1883" }, ""},
		{"plain on ::1", func(c *Config) { c.Address = "tcp://[::1]:1883" }, ""},
		{"plain on localhost", func(c *Config) { c.Address = "tcp://localhost:1883" }, ""},
		{"plain elsewhere", func(c *Config) { c.Address = "tcp://192.0.2.1:1883" }, "loopback"},
		{"plain by name", func(c *Config) { c.Address = "tcp://localhost.example:1" }, "loopback"},
		{"no TLS", func(c *Config) { c.TLS = nil }, "without a TLS configuration"},
		{"no scheme", func(c *Config) { c.Address = "broker:8883" }, "address"},
		{"websocket", func(c *Config) { c.Address = "wss://broker:443" }, "address"},
		{"no port", func(c *Config) { c.Address = "tls://broker" }, "address"},
		{"no host", func(c *Config) { c.Address = "tls://:8883" }, "address"},
		{"tenant", func(c *Config) { c.Tenant = "T1" }, "tenant"},
		{"device", func(c *Config) { c.Device = "host" }, "device"},
		{"keep-alive", func(c *Config) { c.KeepAlive = 61 * time.Second }, "keep-alive"},
		{"broken second", func(c *Config) { c.KeepAlive = 1500 * time.Millisecond }, "keep-alive"},
		{"QoS", func(c *Config) { c.AckQoS = 2 }, "ack QoS"},
		{"queue", func(c *Config) { c.Queue = -1 }, "queue"},
		{"write timeout", func(c *Config) { c.WriteTimeout = -1 }, "write timeout"},
	} {
		conf := good
		c.change(&conf)
		_, err := New(conf, newKitchen())
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want an error about %q", c.name, err, c.want)
		}
	}
	if _, err := New(good, nil); err == nil {
		t.Error("no handler was taken")
	}
}
