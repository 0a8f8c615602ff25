package escpos

// Op names one command by Epson's own spelling, or Text for a run of printable bytes.
type Op string

// The commands the decoder knows. A byte sequence outside this list is an error, never a guess.
const (
	OpText Op = "text" // Data holds bytes 0x20-0xFF, in the current code page

	OpLF  Op = "LF"
	OpCR  Op = "CR"
	OpHT  Op = "HT"
	OpFF  Op = "FF"
	OpCAN Op = "CAN"
	OpNUL Op = "NUL" // a zero byte between commands: ignored by printers, used to end a torn strip

	OpInit         Op = "ESC @"
	OpPrintMode    Op = "ESC !"  // Args: n
	OpCodePage     Op = "ESC t"  // Args: n
	OpCharset      Op = "ESC R"  // Args: n
	OpBold         Op = "ESC E"  // Args: n
	OpDoubleStrike Op = "ESC G"  // Args: n
	OpUnderline    Op = "ESC -"  // Args: n
	OpAlign        Op = "ESC a"  // Args: n
	OpFont         Op = "ESC M"  // Args: n
	OpFeedLines    Op = "ESC d"  // Args: n
	OpFeedDots     Op = "ESC J"  // Args: n
	OpLineSpacing  Op = "ESC 3"  // Args: n
	OpDefaultSpace Op = "ESC 2"  //
	OpCharSpacing  Op = "ESC SP" // Args: n
	OpColour       Op = "ESC r"  // Args: n
	OpUpsideDown   Op = "ESC {"  // Args: n
	OpRotate       Op = "ESC V"  // Args: n
	OpItalic       Op = "ESC 4"  // Args: n (some makers; Epson has none)
	OpAbsolute     Op = "ESC $"  // Args: dots
	OpRelative     Op = "ESC \\" // Args: dots (two's complement)
	OpTabs         Op = "ESC D"  // Args: columns
	OpPulse        Op = "ESC p"  // Args: m t1 t2
	OpBuzzerClone  Op = "ESC B"  // Args: n t
	OpBuzzerEpson  Op = "ESC ( A"
	OpSensorsOut   Op = "ESC c 3" // Args: n
	OpSensorsStop  Op = "ESC c 4" // Args: n
	OpPanel        Op = "ESC c 5" // Args: n
	OpBitImage     Op = "ESC *"   // Args: m columns; Data: image
	OpSelect       Op = "ESC ="   // Args: n
	OpFullCutOld   Op = "ESC i"
	OpPartCutOld   Op = "ESC m"

	OpKanjiOn        Op = "FS &"
	OpKanjiOff       Op = "FS ."
	OpKanjiCode      Op = "FS C"   // Args: n
	OpKanjiUnderline Op = "FS -"   // Args: n
	OpKanjiMode      Op = "FS !"   // Args: n
	OpKanjiQuad      Op = "FS W"   // Args: n
	OpKanjiSpacing   Op = "FS S"   // Args: left right
	OpKanjiFont      Op = "FS ( A" // Args: fn; Data: parameters
	OpUTF8           Op = "FS ( C" // Data: parameters
	OpExtendedASB    Op = "FS ( e" // Data: parameters

	OpSize    Op = "GS !"   // Args: n
	OpInverse Op = "GS B"   // Args: n
	OpCut     Op = "GS V"   // Args: m [n]
	OpRaster  Op = "GS v 0" // Args: m widthBytes rows; Data: image
	// OpGraphics is GS ( L and GS 8 L, one command with a short and a long count. Args: fn 50
	// prints what is stored (2 is the same); fn 112 stores rows and 113 columns, then: scaleX
	// scaleY colour width height, in dots. Data: image.
	OpGraphics     Op = "GS ( L"
	OpASB          Op = "GS a"   // Args: n
	OpStatus       Op = "GS r"   // Args: n
	OpIdentity     Op = "GS I"   // Args: n
	OpProcessID    Op = "GS ( H" // Args: fn; Data: d1..d4 for fn 48, d for fn 49
	OpCounter      Op = "GS g 2" // Args: counter
	OpCounterReset Op = "GS g 0" // Args: counter
	OpLeftMargin   Op = "GS L"   // Args: dots
	OpAreaWidth    Op = "GS W"   // Args: dots
	OpMotionUnits  Op = "GS P"   // Args: x y
	OpSmooth       Op = "GS b"   // Args: n
	OpColour2      Op = "GS ( N" // Data: parameters
	OpCustomize    Op = "GS ( D" // Data: parameters
	OpSymbol       Op = "GS ( k" // Args: cn fn; Data: parameters (2D codes)
	OpBarHeight    Op = "GS h"   // Args: n
	OpBarWidth     Op = "GS w"   // Args: n
	OpBarText      Op = "GS H"   // Args: n
	OpBarFont      Op = "GS f"   // Args: n
	OpBarcode      Op = "GS k"   // Args: m; Data: digits

	OpStatusSII Op = "DC2 q" // Args: n (Seiko Instruments: answered when all before it printed)

	// Real-time commands: acted on at receipt, wherever their bytes stand.
	OpRealtimeStatus  Op = "DLE EOT" // Args: n
	OpRealtimeRequest Op = "DLE ENQ" // Args: n
	OpRealtimePulse   Op = "DLE DC4" // Args: fn, then parameters
)

// Command is one decoded command or text run.
type Command struct {
	Op     Op
	Offset int64 // of the first byte, from the start of the stream
	Raw    []byte
	Args   []int
	Data   []byte
	// Inside is true for a real-time command whose bytes stand inside another command's parameters
	// or image: it acts now and its bytes stay part of that command, which follows when complete.
	Inside bool
}
