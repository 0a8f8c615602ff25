// Package wire is the contract between broker and device, version 1, and the only thing they share:
// topics, ids, exact bytes and digests, the ticket's envelope, signed messages and hints. It is
// pure, decides nothing, and never panics on foreign bytes. What stands here is frozen by the
// golden vectors in testdata/vectors; a change that they do not survive is a new major version.
//
//	data, content, err := wire.Canonical(body)            // a door: exact bytes of a request
//	message, err := signer.SignTicket(wire.Ticket{…})     // broker
//	ticket, err := keys.OpenTicket(payload)               // device
//	answer, err := signer.SignAck(wire.Ack{…})            // device
//	counters.Add(wire.Reason(err), 1)                     // whoever refuses says why
//
// # Topics
//
// Ids in topics are 1-64 lower-case letters, digits and hyphens, never "feed" or "host".
//
//	chit/1/{tenant}/{device}/ticket     broker → device   ticket
//	chit/1/{tenant}/{device}/recall     broker → device   recall
//	chit/1/{tenant}/{device}/command    broker → device   command, welcome
//	chit/1/{tenant}/{device}/ack        device → broker   hello, ack, reply, made
//	chit/1/{tenant}/{device}/status     device → broker   hint, retained; its will says offline
//	chit/1/{tenant}/{device}/telemetry  device → broker   hint, every 60 s
//	chit/1/{tenant}/host                broker → devices  host, retained
//	chit/1/{tenant}/feed/{feed}/{id}    broker → owners   JSON, retained; feeds tickets, devices,
//	                                                      deadletters, orders, alarms
//
// The id of a ticket in a feed is "<order>.s<seq>[.r<k>].<station>"; in the order id every byte but
// a-z, 0-9 and - is written "_" and two lower-case hex digits, so it can be read back.
//
// # Ids
//
//	order    1-64 of A-Z a-z 0-9 . _ ~ -
//	seq      1 to 999999999, no leading zero
//	request  <order>/<seq>
//	ticket   <order>/<seq>@<station>, or /r<k> (broker) or /d<k> (device) before the @, k from 1
//	         and of at most 15 digits
//	kitchen, station, tenant, device  as in topics
//	printer, number, word             1-64 of A-Z a-z 0-9 . _ -
//	visible                           1-128 visible ASCII characters
//
// # Exact bytes
//
// data is the RFC 8785 form of the validated request ([Canonical]), at most 40 KiB; digest is
// "sha256:" and the lower-case hex of its SHA-256. The request, as ticket.schema.json has it,
// lengths in Unicode code points:
//
//	id          required  request id
//	kitchen     required
//	station     required
//	kind        required  new, change, void, notice; in data of the broker's own also reprint
//	order                 at most 40, as are table, course, seat
//	type                  dine-in, take-away, delivery
//	table
//	guests                1-999
//	placed_at, due_at, release_at  RFC 3339 in upper case, years 2000-2199
//	customer              name at most 200, phone at most 40
//	items                 at most 200, at least 1 with new and change
//	  quantity  required  1-999
//	  name      required  1-200, not only spaces
//	  modifiers           at most 50 of 1-200
//	  note                at most 1000
//	  allergens           at most 30 of 1-40
//	  course, seat
//	note                  at most 1000; required, not only spaces, with notice
//
// Unknown and repeated names, null, fractions, lone surrogates and bytes that are not UTF-8 are
// refused. A number may be spelt 2, 2.0 or 2e0: it is the integer 2, and its exact bytes are "2".
//
// # Signed messages
//
// JWS compact (RFC 7515), alg EdDSA, typ chit-<message>+jws, kid the first 16 characters of
// base64url(SHA-256(raw public key)); the header holds these three and nothing else. At most 64
// KiB. Members that are unknown are ignored: a newer minor version may add some that change no
// meaning. A newer major version is another typ (chit-ack.v2+jws), another event type, another
// topic root, and is refused as such. ? marks members that may be absent; counts and times are
// integers up to 2^53.
//
// ticket: a CloudEvents 1.0 event in JSON format. CloudEvents integers are 32 bits wide.
//
//	specversion      1.0
//	type             chit.ticket.v1
//	source           chit/<tenant>
//	id               ticket id
//	time             RFC 3339, accepted by the broker
//	datacontenttype  application/json
//	aud?             the device it was handed to; any other refuses it
//	attempt          from 1, never restarts
//	leasems          from 1, milliseconds from receipt
//	stalems?         milliseconds from receipt; 0 or absent: never
//	expiress         from 1, seconds from receipt
//	printer          the device's printer name
//	station          station id
//	number?          running number
//	previous?        the station's previous number; absent: first today; the word unknown: the
//	                 broker was restored and cannot tell
//	pred?            id of the station's previous ticket of this order
//	gaps?            <number>:<what>[:<where>],… at most 32; what is moved, cancelled, dead,
//	                 earlier (printed before the broker was restored); unknown ones are printed
//	as?              the kind to print where it differs from data
//	marks?           comma list of reprint, possible-duplicate, moved, late; unknown ones are printed
//	                 as they stand
//	from?            at most 200; with moved: the name of the station that had it before
//	onstale?         print, ask, drop: what to do once stalems have passed; absent or unknown: print
//	alsoat?          comma list of at most 32 other stations with a ticket of the same mutation
//	copyof?          the station whose ticket this is a copy of
//	above?           the highest seq of the order that was handed over here before, where it is
//	                 higher than the ticket's own
//	changes?         a string that is JSON: since, added?, removed?, altered? with as many was?, and
//	                 omitted? (true where the lists did not fit into the message)
//	data             exact bytes; its id is the order and seq of id
//
// recall:
//
//	id        visible; the reason of the ack that answers it
//	ticket    ticket id
//	attempt   newest attempt handed to this device, from 1
//	reason    moved, cancelled, dead
//	iat       seconds since 1970
//	moved_to? at most 200
//	aud?      device
//
// command: id visible, do a word, args? texts by name, iat, aud? device.
//
// welcome: session visible, epoch count, host visible, now_ms from 1, journal visible, n_seen
// count.
//
// host: state alive or draining, epoch visible.
//
// hello: iss device, session visible, boot count, journal visible, n count, serial? and version at
// most 200, wire from 1.
//
// ack:
//
//	iss        device
//	sub        ticket id
//	attempt    from 1
//	outcome    stored, held, printed, duplicate, refused, expired, recalled
//	permanent? true only with refused
//	evidence?  stored < sent < counted < fenced < confirmed < seen, or unknown; at least sent, or
//	           unknown, with printed and duplicate
//	reason?    visible; needed with held, refused and recalled, there the recall's id
//	digest     of data; "" only with refused and recalled
//	marked?    true where the paper says POSSIBLE DUPLICATE
//	journal    visible
//	boot       count
//	n          from 1; (journal, boot, n) never repeats
//	iat        seconds since 1970 by the device's clock, which may be wrong
//
// reply: iss device, sub the command's id, ok boolean, error? at most 1000, result? texts by name,
// journal, boot, n, iat as in ack.
//
// made: iss device, sub ticket id, digest of data, number L<n>, station, printer, journal, boot, n,
// iat as in ack, data exact bytes.
//
// # What an ack does to its delivery
//
//	stored, held        current attempt      prolongs the lease; held: stale ends it, and the
//	                                         delivery waits for a person's word
//	printed, duplicate  any attempt          settles; evidence only rises. duplicate is said only
//	                                         of an id whose recorded outcome is final on paper, and
//	                                         carries it; a known but unfinished id is answered
//	                                         stored or held again
//	refused             current attempt      permanent: dead. Temporary: deferral for "storage",
//	                                         else a failed attempt. Never remembered as done
//	expired             current attempt      dead, reason expired
//	recalled            the recall it names  ends that recall, nothing else
//
// # Hints
//
// status and telemetry are unsigned JSON of at most 16 KiB, settle and print nothing; their members
// are those of [Status] and [Telemetry], state (online, offline) and session, uptime_s and counters
// being required.
package wire

// Sizes of the contract, in bytes.
const (
	// MessageMax is the largest published message.
	MessageMax = 64 << 10
	// ContentMax is the largest ticket body at a door.
	ContentMax = 40 << 10
)
