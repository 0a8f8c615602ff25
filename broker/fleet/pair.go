package fleet

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"slices"

	"chit/device/wire"
	"chit/device/wire/pairing"
)

// textMax is the longest serial number or version that a device may tell, in bytes.
const textMax = 128

// request is a pair or renew request whose proofs hold.
type request struct {
	tlsKey      *ecdsa.PublicKey
	spki        []byte
	fingerprint string
}

// checkProof checks that both keys stand behind the request (package pairing).
func checkProof(csr []byte, ack ed25519.PublicKey, signed, proof []byte) (request, error) {
	if len(ack) != ed25519.PublicKeySize {
		return request{}, fmt.Errorf("%w: ack_key: found %d bytes, expected %d", ErrRequest, len(ack),
			ed25519.PublicKeySize)
	}
	if !ed25519.Verify(ack, signed, proof) {
		return request{}, fmt.Errorf("%w: proof: is not the ack key's signature", ErrRequest)
	}
	parsed, err := x509.ParseCertificateRequest(csr)
	if err != nil {
		return request{}, fmt.Errorf("%w: csr: %w", ErrRequest, err)
	}
	if err := parsed.CheckSignature(); err != nil {
		return request{}, fmt.Errorf("%w: csr: %w", ErrRequest, err)
	}
	key, ok := parsed.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return request{}, fmt.Errorf("%w: csr: expected a P-256 key", ErrRequest)
	}
	r := request{tlsKey: key, spki: parsed.RawSubjectPublicKeyInfo}
	r.fingerprint = pairing.Keys(r.spki, ack)
	if parsed.Subject.CommonName != r.fingerprint {
		return request{}, fmt.Errorf("%w: csr: common name %q, expected the keys' fingerprint",
			ErrRequest, parsed.Subject.CommonName)
	}
	return r, nil
}

func checkTold(r pairing.Request) error {
	if len(r.Serial) > textMax || len(r.Version) > textMax {
		return fmt.Errorf("%w: serial, version: expected at most %d bytes", ErrRequest, textMax)
	}
	if len(r.Printers) > pairing.PrintersMax {
		return fmt.Errorf("%w: printers: found %d, expected at most %d", ErrRequest, len(r.Printers),
			pairing.PrintersMax)
	}
	for i, name := range r.Printers {
		if err := wire.CheckPrinter(name); err != nil {
			return fmt.Errorf("%w: printers[%d]: %w", ErrRequest, i, err)
		}
	}
	return nil
}

// Pair makes a device of whoever holds a code and two keys. A repetition by the same keys gets the
// same device as long as the code lives.
func (f *Fleet) Pair(ctx context.Context, r pairing.Request) (pairing.Answer, error) {
	code, err := pairing.NormalCode(r.Code)
	if err != nil {
		return pairing.Answer{}, fmt.Errorf("%w: code: %w", ErrRequest, err)
	}
	if err := checkTold(r); err != nil {
		return pairing.Answer{}, err
	}
	proved, err := checkProof(r.CSR, r.AckKey, r.Signed(), r.Proof)
	if err != nil {
		return pairing.Answer{}, err
	}
	c, err := f.claim(ctx, code, proved, r)
	if err != nil {
		return pairing.Answer{}, err
	}
	// The tenant's key must exist before a device is told whom to believe.
	if _, err := f.Signer(ctx, c.Tenant); err != nil {
		return pairing.Answer{}, err
	}
	return f.certify(ctx, c.ID, proved, nil)
}

// claim uses the code and makes the device's record, without a certificate yet.
func (f *Fleet) claim(ctx context.Context, code string, proved request, r pairing.Request) (Device,
	error,
) {
	f.writing.Lock()
	defer f.writing.Unlock()
	c, err := f.useCode(ctx, code, proved.fingerprint)
	if err != nil {
		return Device{}, err
	}
	f.mu.RLock()
	d, known := f.devices[c.Device]
	f.mu.RUnlock()
	if known {
		return d.value, nil
	}
	now := f.conf.Now()
	d = stored[Device]{value: Device{
		ID: c.Device, Tenant: c.Tenant, Fingerprint: proved.fingerprint, Serial: r.Serial,
		Version: r.Version, Printers: slices.Clone(r.Printers), Paired: now, Bound: now,
		Stations: bound(c.Stations, r.Printers), AckKeys: [][]byte{r.AckKey}, TLSKey: proved.spki,
	}}
	if err := f.putDevice(ctx, d); err != nil {
		return Device{}, err
	}
	f.conf.Log.Info("device paired", "tenant", c.Tenant, "device", c.Device,
		"fingerprint", proved.fingerprint)
	return d.value, nil
}

// bound gives stations without a printer the device's first one.
func bound(stations []Station, printers []string) []Station {
	stations = slices.Clone(stations)
	for i := range stations {
		if stations[i].Printer == "" && len(printers) > 0 {
			stations[i].Printer = printers[0]
		}
	}
	return stations
}

// Renew gives a device another certificate for the keys that it is known by.
func (f *Fleet) Renew(ctx context.Context, r pairing.Renewal) (pairing.Answer, error) {
	d, err := f.Device(ctx, r.Device)
	if err != nil {
		return pairing.Answer{}, err
	}
	if d.Revoked != "" {
		return pairing.Answer{}, fmt.Errorf("device %s: %w", d.ID, ErrRevoked)
	}
	if len(d.AckKeys) == 0 {
		return pairing.Answer{}, fmt.Errorf("%w: device %s has no ack key", ErrCorrupt, d.ID)
	}
	proved, err := checkProof(r.CSR, d.AckKeys[len(d.AckKeys)-1], r.Signed(), r.Proof)
	if err != nil {
		return pairing.Answer{}, err
	}
	if string(proved.spki) != string(d.TLSKey) {
		return pairing.Answer{}, fmt.Errorf("%w: csr: is for another key than the device's", ErrRequest)
	}
	return f.certify(ctx, d.ID, proved, func(d *Device) error {
		sum := sha256.Sum256(r.CSR)
		if slices.ContainsFunc(d.Requests, func(old []byte) bool { return bytes.Equal(old, sum[:]) }) {
			return fmt.Errorf("%w: csr: was used before", ErrRequest)
		}
		d.Requests = append(slices.Clone(d.Requests), sum[:])
		d.Requests = d.Requests[max(0, len(d.Requests)-requestsMax):]
		return nil
	})
}

// certify issues a certificate, notes its serial number in the record and only then tells it: no
// certificate is in the world that the record does not know (DESIGN I1).
func (f *Fleet) certify(ctx context.Context, device string, proved request,
	first func(*Device) error,
) (pairing.Answer, error) {
	var answer pairing.Answer
	err := f.change(ctx, device, func(d *Device) (*Deed, error) {
		if d.Revoked != "" {
			return nil, ErrRevoked
		}
		if first != nil {
			if err := first(d); err != nil {
				return nil, err
			}
		}
		cert, err := f.ca.issueDevice(d.Tenant, d.ID, proved.tlsKey)
		if err != nil {
			return nil, err
		}
		d.Certificates = append(d.Certificates, cert.SerialNumber.Text(16))
		if n := len(d.Certificates); n > certificatesMax {
			d.Certificates = d.Certificates[n-certificatesMax:]
		}
		answer = pairing.Answer{
			Tenant: d.Tenant, Device: d.ID, Certificate: cert.Raw, CA: f.ca.cert.Raw,
			BrokerKeys: f.publicKeys(d.Tenant), MQTT: f.conf.MQTT, Stations: slices.Clone(d.Stations),
		}
		return nil, nil
	})
	return answer, err
}
