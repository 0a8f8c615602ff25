package simulate

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"chit/device/wire"
)

// opens is the hour at which a story begins: kitchens open, and the day's first rush is near.
const opens = 10

// Plan is all that will be done to a world. What the world makes of it follows from the seed.
type Plan struct {
	Kitchens []Kitchen
	Posts    []Post
	Faults   []Fault
	Pushes   []Push
}

// Kitchen is one device with its printers and people. Two of them with one tenant are a kitchen
// with two devices, which stand in for each other.
type Kitchen struct {
	Tenant string
	// Stations in order; Printers is the printer of each. A device has one or two.
	Stations []string
	Printers []string
	// Backup is the station that takes over for each, "" or missing for none.
	Backup []string
	// Stale is what becomes of tickets that are too old, print where empty.
	Stale wire.OnStale
	// Lacks is what its printers cannot answer, as the faults of printer/virtual.
	Lacks []string
	// Mute is true where they answer nothing at all.
	Mute bool
	// Cabled is true where a lost power is seen on the cable at once.
	Cabled bool
	// Insist is the pause in which the pattern of an unseen ticket is repeated, 0 never.
	Insist time.Duration
}

// Post is one ticket posted at the broker's door.
type Post struct {
	Kitchen int
	At      time.Duration
	Order   string
	Seq     int
	Station string
	Kind    wire.Kind
	Items   []wire.Item
	// Release is from At, 0 for at once.
	Release time.Duration
	// Again is when the shop posts it once more; 0 never. Other says that it then says other
	// things.
	Again time.Duration
	Other bool
	// Cancel is when a person ends it, 0 never.
	Cancel time.Duration
}

// Ticket is the id of the ticket.
func (p Post) Ticket() string {
	return fmt.Sprintf("%s/%d@%s", p.Order, p.Seq, p.Station)
}

// Name is what the paper shows largest, one for each ticket.
func (p Post) Name() string { return fmt.Sprintf("%s.%d%s", p.Order, p.Seq, p.Station[:1]) }

func (p Post) String() string {
	return fmt.Sprintf("%s  kitchen %d posts %s %s", clock(p.At), p.Kitchen, p.Kind, p.Ticket())
}

// stream is a source of chance for one purpose, so that leaving one thing out of a story changes
// little else.
func stream(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose)) // Never fails (hash.Hash).
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// NewPlan draws a story from the seed.
func NewPlan(o Options) Plan {
	var p Plan
	for k := range o.Kitchens {
		r := stream(o.Seed, fmt.Sprint("kitchen ", k))
		kitchen := newKitchen(r, o.Faults)
		kitchen.Tenant = fmt.Sprintf("t%d", k)
		p.Kitchens = append(p.Kitchens, kitchen)
	}
	first := p.pairs(o)
	for k, kitchen := range p.Kitchens {
		r := stream(o.Seed, fmt.Sprint("orders ", k))
		p.Posts = append(p.Posts, orders(r, k, kitchen, first[k], o.span())...)
	}
	slices.SortStableFunc(p.Posts, func(a, b Post) int { return int(a.At - b.At) })
	for k := range o.Kitchens {
		r := stream(o.Seed, fmt.Sprint("pushes ", k))
		if r.IntN(4) == 0 {
			p.Kitchens[k].Insist = time.Minute
		}
		p.Pushes = append(p.Pushes, pushes(r, k, p.Posts, o.span())...)
	}
	p.faults(o)
	slices.SortStableFunc(p.Faults, func(a, b Fault) int { return int(a.At - b.At) })
	return p
}

func newKitchen(r *rand.Rand, faults []FaultName) Kitchen {
	k := Kitchen{Stations: []string{"grill", "bar"}, Cabled: r.IntN(2) == 0}
	switch r.IntN(3) {
	case 0:
		k.Stations, k.Printers = k.Stations[:1], []string{"hot"}
	case 1:
		k.Printers = []string{"hot", "hot"}
	default:
		k.Printers = []string{"hot", "cold"}
	}
	lack, mute := r.IntN(8), r.IntN(12)
	if slices.Contains(faults, Clone) {
		sets := []string{"", "", "", "", "clone", "no-odometer", "no-asb", "clone no-odometer no-asb"}
		k.Lacks = strings.Fields(sets[lack])
	}
	if slices.Contains(faults, Mute) && mute == 0 {
		k.Lacks, k.Mute = []string{"mute"}, true
	}
	return k
}

// rush is how many orders an hour a kitchen gets, by hour of the day.
var rush = [24]float64{
	1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 2, 7, 5, 2, 1, 1, 3, 6, 8, 6, 3, 2, 1,
}

// orders draws the orders of one kitchen: a Poisson process by thinning, and what becomes of each.
func orders(r *rand.Rand, k int, kitchen Kitchen, first int, span time.Duration) []Post {
	const most = 8.0
	var posts []Post
	for at, n := time.Duration(0), first; ; {
		at += time.Duration(r.ExpFloat64() / most * float64(time.Hour))
		if at >= span {
			return posts
		}
		hour := (opens + int(at/time.Hour)) % 24
		if r.Float64()*most > rush[hour] {
			continue
		}
		posts = append(posts, order(r, k, kitchen, fmt.Sprint(n), at, span)...)
		n++
	}
}

var dishes = []string{"Margherita", "Burger", "Fries", "Cola", "Crème brûlée", "Käsespätzle", "IPA"}

func items(r *rand.Rand) []wire.Item {
	var list []wire.Item
	for range 1 + r.IntN(3) {
		item := wire.Item{Quantity: 1 + r.IntN(3), Name: dishes[r.IntN(len(dishes))]}
		if r.IntN(4) == 0 {
			item.Modifiers = []string{"no onions"}
		}
		list = append(list, item)
	}
	return list
}

// order is one order's mutations, each at the stations it concerns.
func order(r *rand.Rand, k int, kitchen Kitchen, id string, at, span time.Duration) []Post {
	var posts []Post
	stations := kitchen.Stations
	if len(stations) > 1 && r.IntN(3) > 0 {
		i := r.IntN(2)
		stations = stations[i : i+1]
	}
	release := time.Duration(0)
	if r.IntN(12) == 0 {
		release = time.Duration(r.IntN(30)) * time.Minute
	}
	for seq, kind := 1, wire.KindNew; at < span; seq++ {
		for _, station := range stations {
			p := Post{Kitchen: k, At: at, Order: id, Seq: seq, Station: station, Kind: kind}
			if kind != wire.KindVoid {
				p.Items = items(r)
			}
			if at+release < span {
				p.Release = release
			}
			if r.IntN(25) == 0 && seq == 1 {
				// It was held up on its way to the door; a later one may come first.
				p.At += time.Duration(r.IntN(600)) * time.Second
			}
			switch r.IntN(60) {
			case 0, 1:
				p.Again = at + time.Duration(r.IntN(120))*time.Second
			case 2:
				p.Again, p.Other = at+time.Duration(1+r.IntN(120))*time.Second, true
			case 3, 4:
				p.Cancel = at + time.Duration(r.IntN(60))*time.Second
			}
			posts = append(posts, p)
		}
		if kind == wire.KindVoid || seq >= 4 || r.IntN(4) > 0 {
			break
		}
		kind = []wire.Kind{wire.KindChange, wire.KindChange, wire.KindVoid, wire.KindNotice}[r.IntN(4)]
		at += time.Duration(r.ExpFloat64() * float64(3*time.Minute))
	}
	return posts
}

// outages are the faults that now and then last for hours, past the window of a delivery.
var outages = []FaultName{Partition, PowerCut, PaperOut, PowerOff, DiskFull, Cable, Silent}

// faults draws what goes wrong, mostly while somebody orders.
func (p *Plan) faults(o Options) {
	days := o.span().Hours() / 24
	swarm := stream(o.Seed, "swarm") // In each story other things go wrong often.
	for _, n := range names {
		often := []float64{0, 0.5, 1, 1, 2, 4}[swarm.IntN(6)]
		if !slices.Contains(o.Faults, n.name) {
			continue
		}
		if len(o.Faults) < len(names)/2 {
			often = 4 * max(often, 1) // Somebody wants to see these.
		}
		for k := -1; k < o.Kitchens; k++ {
			r := stream(o.Seed, fmt.Sprint("fault ", n.name, " ", k))
			rate := n.kitchen
			if k < 0 {
				rate = n.broker
			}
			for range poisson(r, rate*days*often) {
				f := Fault{Name: n.name, Kitchen: k, At: p.busy(r, k, o.span()), Pick: r.Uint64()}
				if n.most > 0 {
					f.For = n.shortest + time.Duration(r.Float64()*r.Float64()*float64(n.most-n.shortest))
				}
				if n.name == BrokerCrash {
					f.For = downtime(r)
				}
				if r.IntN(300) == 0 && slices.Contains(outages, n.name) {
					f.For = time.Duration(1+r.IntN(8)) * time.Hour
				}
				p.Faults = append(p.Faults, f)
			}
		}
	}
}

// downtime is how long a broker is away: mostly for a moment, now and then longer than a lease
// (30 s), a move and a stale ticket wait for.
func downtime(r *rand.Rand) time.Duration {
	most := []time.Duration{3 * time.Second, 3 * time.Second, time.Minute, 10 * time.Minute}
	return time.Second + time.Duration(r.Float64()*float64(most[r.IntN(len(most))]))
}

// busy is an instant shortly around a post, or anywhere.
func (p *Plan) busy(r *rand.Rand, k int, span time.Duration) time.Duration {
	anywhere := time.Duration(r.Float64() * float64(span))
	near := time.Duration(r.ExpFloat64()*3000-500) * time.Millisecond
	i, rare := r.IntN(max(1, len(p.Posts))), r.IntN(5) == 0
	if rare || len(p.Posts) == 0 {
		return anywhere
	}
	for range p.Posts {
		if post := p.Posts[i%len(p.Posts)]; k < 0 || post.Kitchen == k {
			return max(0, post.At+post.Release+near)
		}
		i++
	}
	return anywhere
}

func poisson(r *rand.Rand, mean float64) int {
	n := 0
	for at := r.ExpFloat64(); at < mean; at += r.ExpFloat64() {
		n++
	}
	return n
}

// clock is an instant of a story for people: day and time.
func clock(at time.Duration) string {
	all := at + opens*time.Hour
	day, rest := all/(24*time.Hour), all%(24*time.Hour)
	return fmt.Sprintf("day %d %02d:%02d:%06.3f", day+1, rest/time.Hour, rest/time.Minute%60,
		(rest % time.Minute).Seconds())
}
