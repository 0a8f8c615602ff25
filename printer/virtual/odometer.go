package virtual

// odometer is the maintenance counters of GS g 2: resettable and cumulative.
type odometer struct{ feeds, cuts, feedsAll, cutsAll uint64 }

func (o *odometer) feed(n int) {
	o.feeds += uint64(n)
	o.feedsAll += uint64(n)
}

func (o *odometer) cut() {
	o.cuts++
	o.cutsAll++
}

// counter numbers of GS g 2 that this printer has.
const (
	counterFeeds, counterCuts       = 20, 50
	counterFeedsAll, counterCutsAll = 148, 178
)

// read is the value of one counter; false where there is none of that number.
func (o odometer) read(counter int) (uint64, bool) {
	switch counter {
	case counterFeeds:
		return o.feeds, true
	case counterCuts:
		return o.cuts, true
	case counterFeedsAll:
		return o.feedsAll, true
	case counterCutsAll:
		return o.cutsAll, true
	}
	return 0, false
}

// reset is GS g 0; the cumulative counters cannot be reset.
func (o *odometer) reset(counter int) bool {
	switch counter {
	case counterFeeds:
		o.feeds = 0
	case counterCuts:
		o.cuts = 0
	default:
		return false
	}
	return true
}
