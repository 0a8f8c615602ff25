package session

import "strings"

// Words is a hold in words for people: "the printer is {Is}", then Do.
type Words struct {
	// Is says what is wrong, behind "the printer is".
	Is string
	// Do is what a cook should do about it, a sentence or two.
	Do string
}

// holdWords are the words of each hold. What a printer has taken stays in it while it has power, so
// no advice switches it off where opening it may do; see DESIGN section 5, "Paper out is not
// failure".
var holdWords = map[Hold]Words{
	HoldAbsent: {"absent", "Switch it on and push both ends of its cable in."},
	HoldSilent: {"silent", "It is there and does not answer: switch it off, push both ends of its " +
		"cable in, switch it on."},
	HoldPaper: {"out of paper", "Put in a new roll and close the cover: it goes on by itself. " +
		"Do not send the order again."},
	HoldCover: {"open", "Close its cover until it clicks: it goes on by itself. " +
		"Do not send the order again."},
	HoldCutter: {"stopped by its cutter", "Open the cover, take out what is stuck at the blade " +
		"and close it. Where that does not help, switch it off and on: the ticket then comes " +
		"again, marked."},
	HoldHot: {"too hot", "Wait: it goes on by itself when its head has cooled down. " +
		"Keep its vents free."},
	HoldError: {"in error", "Switch it off, wait ten seconds and switch it on. " +
		"Where the error comes back, it needs repair."},
	HoldOff: {"off line", "Look for a blinking light and press FEED once; " +
		"where there is an ON LINE button, press that."},
}

// Words is the hold in words, empty for none. A hold that this program does not know, from a newer
// one, is told by its own name.
func (h Hold) Words() Words {
	words, known := holdWords[h]
	if !known && h != HoldNone {
		words.Is = strings.ReplaceAll(string(h), "_", " ")
	}
	return words
}
