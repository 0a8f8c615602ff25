package intake

import "net/http"

// newCode serves POST /v1/devices/codes.
func (d *Door) newCode(w http.ResponseWriter, r *http.Request, o owner) {
	raw, err := body(w, r, bodyMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return
	}
	var request struct {
		Stations []string `json:"stations"`
	}
	if len(raw) > 0 {
		if p := decode(raw, &request); p != nil {
			p.write(w)
			return
		}
	}
	code, err := d.Fleet.NewCode(r.Context(), o.tenant, request.Stations)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("pairing code made", "tenant", o.tenant, "who", o.who)
	answer(w, http.StatusCreated, code)
}

// devices serves GET /v1/devices.
func (d *Door) devices(w http.ResponseWriter, r *http.Request, o owner) {
	list, err := d.Fleet.Devices(r.Context(), o.tenant)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if list == nil {
		list = []Device{}
	}
	answer(w, http.StatusOK, map[string]any{"devices": list})
}

// revoke serves POST /v1/devices/{device}/revoke.
func (d *Door) revoke(w http.ResponseWriter, r *http.Request, o owner) {
	raw, err := body(w, r, bodyMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return
	}
	var request struct {
		Reason string `json:"reason"`
	}
	if p := decode(raw, &request); p != nil {
		p.write(w)
		return
	}
	if request.Reason == "" {
		unprocessable(field{"reason", "nothing", "why, for the audit"}).write(w)
		return
	}
	device := r.PathValue("device")
	if err := d.Fleet.Revoke(r.Context(), o.tenant, device, request.Reason); err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Warn("device revoked", "tenant", o.tenant, "device", device, "who", o.who)
	w.WriteHeader(http.StatusNoContent)
}
