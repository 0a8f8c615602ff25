package intake

import "net/http"

// stationsOf reads {"stations": […]}; an empty body names none. ok is false where it was answered.
func (d *Door) stationsOf(w http.ResponseWriter, r *http.Request) (stations []string, ok bool) {
	var request struct {
		Stations []string `json:"stations"`
	}
	ok = d.read(w, r, &request)
	return request.Stations, ok
}

// bind serves POST /v1/devices/{device}/bind.
func (d *Door) bind(w http.ResponseWriter, r *http.Request, o owner) {
	stations, ok := d.stationsOf(w, r)
	if !ok {
		return
	}
	device := r.PathValue("device")
	if err := d.Fleet.Bind(r.Context(), o.tenant, device, stations, o.who); err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("device bound", "tenant", o.tenant, "device", device, "who", o.who)
	w.WriteHeader(http.StatusNoContent)
}

// newCode serves POST /v1/devices/codes.
func (d *Door) newCode(w http.ResponseWriter, r *http.Request, o owner) {
	stations, ok := d.stationsOf(w, r)
	if !ok {
		return
	}
	code, err := d.Fleet.NewCode(r.Context(), o.tenant, stations)
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
	if p := checkReason(request.Reason, 1); p != nil {
		p.write(w)
		return
	}
	device := r.PathValue("device")
	err = d.Fleet.Revoke(r.Context(), o.tenant, device, request.Reason, o.who)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Warn("device revoked", "tenant", o.tenant, "device", device, "who", o.who)
	w.WriteHeader(http.StatusNoContent)
}
