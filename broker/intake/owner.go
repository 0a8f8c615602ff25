package intake

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
)

// owner is who is asking.
type owner struct{ tenant, who string }

// owned asks for an owner's token before anything of the request is read.
func (d *Door) owned(next func(http.ResponseWriter, *http.Request, owner)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, "bearer") {
			if tenant, who, ok := d.Tokens.Tenant(strings.TrimSpace(token)); ok {
				next(w, r, owner{tenant, who})
				return
			}
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="chit"`)
		problem{
			Status: http.StatusUnauthorized, Type: "no-token",
			Detail: "this door needs the owner's API token",
			Hint:   "send Authorization: Bearer TOKEN; chit up writes the token to DIR/token",
		}.write(w)
	})
}

// TokenDigest is how a token is kept: the hex SHA-256 of its text. Tokens are random and long, so
// no salt or slow hash is needed.
func TokenDigest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// TokenList is a fixed list of tokens.
type TokenList []TokenEntry

// TokenEntry is one token: its digest, whose it is and what the audit calls it.
type TokenEntry struct{ SHA256, Tenant, Who string }

// Tenant compares every entry in constant time.
func (l TokenList) Tenant(token string) (tenant, who string, ok bool) {
	digest := []byte(TokenDigest(token))
	for _, e := range l {
		if subtle.ConstantTimeCompare(digest, []byte(strings.ToLower(e.SHA256))) == 1 {
			tenant, who, ok = e.Tenant, e.Who, true
		}
	}
	return tenant, who, ok && token != ""
}

// Check names the first entry that could never match.
func (l TokenList) Check() error {
	for i, e := range l {
		if raw, err := hex.DecodeString(e.SHA256); err != nil || len(raw) != sha256.Size {
			return fmt.Errorf("tokens[%d].sha256: found %d characters, expected 64 of 0-9 a-f",
				i, len(e.SHA256))
		}
		if e.Tenant == "" {
			return fmt.Errorf("tokens[%d].tenant: found nothing, expected a tenant's id", i)
		}
	}
	return nil
}
