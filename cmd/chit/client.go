package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

// client speaks to a broker's HTTP door as its owner.
type client struct {
	url, token string
	http       *http.Client
}

// access are the flags that say which broker and whose token.
type access struct{ data, url, tokenFile, ca string }

func (a *access) flags(c *cobra.Command) {
	c.PersistentFlags().StringVar(&a.data, "data", os.Getenv("CHIT_DATA"),
		"folder of chit up: address and token are read from it")
	c.PersistentFlags().StringVar(&a.url, "url", os.Getenv("CHIT_URL"),
		"the broker's door, such as http://127.0.0.1:8080")
	c.PersistentFlags().StringVar(&a.tokenFile, "token-file", os.Getenv("CHIT_TOKEN_FILE"),
		"file with the owner's API token")
	c.PersistentFlags().StringVar(&a.ca, "ca", os.Getenv("CHIT_CA"),
		"PEM file of the installation's CA, for https:// (default with --data: DIR/broker/ca.pem)")
}

// open finds address, token and CA; flags win over the folder.
func (a *access) open() (*client, error) {
	at, tokenFile, ca := a.url, a.tokenFile, a.ca
	if a.data != "" {
		if tokenFile == "" {
			tokenFile = filepath.Join(a.data, "token")
		}
		var err error
		if at == "" {
			if at, err = writtenAddress(filepath.Join(a.data, "addresses.json")); err != nil {
				return nil, err
			}
			if ca == "" {
				ca = filepath.Join(a.data, "broker", "ca.pem")
			}
		}
	}
	if at == "" || tokenFile == "" {
		return nil, misuse("give --data DIR, or --url and --token-file", "no broker is named")
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, misuse("such as --url http://127.0.0.1:8080",
			"--url: found %q, expected http://host:port or https://host:port", at)
	}
	c := &client{url: strings.TrimRight(at, "/"), http: &http.Client{Timeout: answerWait}}
	if u.Scheme == "https" && ca != "" {
		if c.http.Transport, err = trusting(ca); err != nil {
			return nil, err
		}
	}
	raw, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, fmt.Errorf("reading the owner's token: %w", err)
	}
	c.token = strings.TrimSpace(string(raw))
	return c, nil
}

// answerWait is how long one answer may take.
const answerWait = 30 * time.Second

// writtenAddress reads the door's address that chit up has written.
func writtenAddress(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", hinted{fmt.Errorf("finding the broker's address: %w", err),
			"is chit up running on this folder?"}
	}
	var at struct {
		HTTP string `json:"http"`
	}
	if err := json.Unmarshal(raw, &at); err != nil || at.HTTP == "" {
		return "", fmt.Errorf("%s: found no address under \"http\"", path)
	}
	return at.HTTP, nil
}

// trusting makes a transport that trusts the installation's own CA beside the machine's.
func trusting(ca string) (http.RoundTripper, error) {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("reading the installation's CA: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: found no certificate, expected PEM", ca)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// apiError is a problem document.
type apiError struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
	Errors []struct {
		Field    string `json:"field"`
		Found    string `json:"found"`
		Expected string `json:"expected"`
	} `json:"errors"`
}

func (e *apiError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", e.Status, e.Title)
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	for _, f := range e.Errors {
		b.WriteString("\n  ")
		if f.Field != "" {
			b.WriteString(f.Field + ": ")
		}
		if f.Found != "" {
			b.WriteString("found " + f.Found + ", ")
		}
		b.WriteString("expected " + f.Expected)
	}
	return visibleText(b.String())
}

// answerMax bounds what is read of an answer, in bytes.
const answerMax = 64 << 20

// call sends one request and decodes the answer into out, which may be nil. The status is returned
// for 2xx; everything else is an error that carries the broker's words and hint.
func (c *client) call(ctx context.Context, method, path string, body []byte, out any) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			return 0, hinted{fmt.Errorf("asking the broker: %w", err),
				"give the installation's CA: --ca FILE (it is ca.pem in the broker's data folder)"}
		}
		return 0, hinted{fmt.Errorf("asking the broker: %w", err), "is it running at " + c.url + "?"}
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, answerMax))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return response.StatusCode, fmt.Errorf("reading the broker's answer: %w", err)
	}
	if response.StatusCode/100 != 2 {
		problem := &apiError{Status: response.StatusCode, Title: response.Status}
		if json.Unmarshal(raw, problem) != nil {
			problem.Detail = "no problem document; is this a chit broker?"
		}
		return response.StatusCode, hinted{problem, problem.Hint}
	}
	if out == nil || len(raw) == 0 {
		return response.StatusCode, nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return response.StatusCode, fmt.Errorf("reading the broker's answer: %w", err)
	}
	return response.StatusCode, nil
}

// tickets reads a list of tickets to its end, page by page; name is the list's in the answer.
func (c *client) tickets(ctx context.Context, path, name string) ([]intake.Ticket, error) {
	list := []intake.Ticket{}
	for after := ""; ; {
		var page map[string]json.RawMessage
		query := url.Values{"limit": {strconv.Itoa(intake.PageMax)}}
		if after != "" {
			query.Set("after", after)
		}
		if _, err := c.call(ctx, "GET", path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		var tickets []intake.Ticket
		next := ""
		err := json.Unmarshal(page[name], &tickets)
		if raw := page["next"]; raw != nil && err == nil {
			err = json.Unmarshal(raw, &next)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the broker's answer: %w", err)
		}
		list = append(list, tickets...)
		if next == "" || next == after {
			return list, nil
		}
		after = next
	}
}

// printJSON writes v as the one object of a program's output.
func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
