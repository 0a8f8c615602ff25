package alert

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"net/url"
	"strings"
	"time"
)

// Email sends messages through a mail server: smtp://host:port with STARTTLS, which only a server
// on loopback may lack, or smtps://host:port with TLS from the first byte.
type Email struct {
	address, host  string
	implicit       bool // smtps
	loopback       bool
	from           string
	to             string
	user, password string
	tls            *tls.Config
	now            func() time.Time
}

// EmailConfig is what an [Email] is made of. User and Password may be empty; CA are trusted
// authorities, the machine's where nil.
type EmailConfig struct {
	URL            string
	From           string
	To             string // one recipient: one who is refused must not keep it from others
	User, Password string
	CA             *x509.CertPool
	Now            func() time.Time
}

// NewEmail makes a sender; its error says what was found and expected.
func NewEmail(c EmailConfig) (*Email, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Port() == "" || u.User != nil ||
		u.Path != "" || u.Hostname() == "" {
		return nil, fmt.Errorf("found %q, expected smtp://host:port or smtps://host:port", c.URL)
	}
	if err := checkPort(u); err != nil {
		return nil, fmt.Errorf("found %q, %w", c.URL, err)
	}
	e := &Email{address: u.Host, host: u.Hostname(), implicit: u.Scheme == "smtps", from: c.From,
		to: c.To, user: c.User, password: c.Password, now: c.Now,
		tls: &tls.Config{ServerName: u.Hostname(), RootCAs: c.CA, MinVersion: tls.VersionTLS12}}
	ip, err := netip.ParseAddr(e.host)
	e.loopback = e.host == "localhost" || err == nil && ip.IsLoopback()
	return e, nil
}

// CheckMailbox is nil for a plain address such as ana@example.org.
func CheckMailbox(text string) error {
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text {
		return fmt.Errorf("found %q, expected an address such as ana@example.org", text)
	}
	return nil
}

// Send implements [Sender].
func (e *Email) Send(ctx context.Context, m Message) (err error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", e.address)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	// Its end also ends a dialogue that hangs.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if e.implicit {
		conn = tls.Client(conn, e.tls)
	}
	c, err := smtp.NewClient(conn, e.host)
	if err != nil {
		return errors.Join(fmt.Errorf("greeting: %w", err), conn.Close())
	}
	taken := false
	defer func() {
		if closeErr := c.Close(); closeErr != nil && err == nil && !taken {
			err = fmt.Errorf("closing: %w", closeErr)
		}
	}()
	if err := e.secure(c); err != nil {
		return err
	}
	if err := e.envelope(c); err != nil {
		return err
	}
	body, err := c.Data()
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if _, err := body.Write(e.message(m)); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if err := body.Close(); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	taken = true
	_ = c.Quit() // A server that hangs up after it has taken the message is only impolite.
	return nil
}

// secure makes the connection private and says who we are.
func (e *Email) secure(c *smtp.Client) error {
	if err := c.Hello("chit-broker.localdomain"); err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	offered, _ := c.Extension("STARTTLS")
	switch {
	case e.implicit:
	case offered && (!e.loopback || e.tls.RootCAs != nil):
		if err := c.StartTLS(e.tls); err != nil {
			return fmt.Errorf("starttls: %w", err)
		}
	case !e.loopback:
		return errors.New("starttls: the server does not offer it, and mail does not go in clear")
	}
	if e.user == "" {
		return nil
	}
	// PlainAuth refuses by itself to send a password in clear to another machine.
	if err := c.Auth(smtp.PlainAuth("", e.user, e.password, e.host)); err != nil {
		return fmt.Errorf("auth: %w", err)
	}
	return nil
}

func (e *Email) envelope(c *smtp.Client) error {
	if err := c.Mail(e.from); err != nil {
		return fmt.Errorf("sender: %w", err)
	}
	if err := c.Rcpt(e.to); err != nil {
		return fmt.Errorf("recipient: %w", err)
	}
	return nil
}

// message is the mail itself (RFC 5322). The message id is the note's, so that a mail that comes
// twice is seen to be one.
func (e *Email) message(m Message) []byte {
	var b bytes.Buffer
	for _, h := range [][2]string{
		{"From", e.from}, {"To", e.to},
		{"Subject", mime.QEncoding.Encode("utf-8", oneLine(m.Title()))},
		{"Date", e.now().UTC().Format(time.RFC1123Z)},
		{"Message-ID", "<" + oneLine(m.ID) + "@chit-broker>"},
		{"Auto-Submitted", "auto-generated"}, {"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, err := w.Write([]byte(m.Body() + "\n"))
	if err = errors.Join(err, w.Close()); err != nil {
		panic("alert: writing into memory failed: " + err.Error())
	}
	return b.Bytes()
}

// oneLine keeps text from adding headers.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
