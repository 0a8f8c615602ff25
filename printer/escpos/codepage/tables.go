package codepage

import "unicode/utf8"

// upper is a page of which bytes 0x80 to 0xFF are in a table of ours; below it is ASCII.
type upper struct {
	runes [128]rune
	bytes map[rune]byte
}

// page makes a page of its 128 upper characters, U+FFFD where it has none.
func page(characters string) *upper {
	u := &upper{bytes: map[rune]byte{}}
	i := 0
	for _, r := range characters {
		u.runes[i] = r
		if _, twice := u.bytes[r]; !twice && r != utf8.RuneError {
			u.bytes[r] = byte(0x80 + i)
		}
		i++
	}
	return u
}

// DecodeByte is the character of one byte.
func (u *upper) DecodeByte(b byte) rune {
	if b < 0x80 {
		return rune(b)
	}
	return u.runes[b-0x80]
}

// EncodeRune is the byte of one character.
func (u *upper) EncodeRune(r rune) (byte, bool) {
	if r < 0x80 {
		return byte(r), true
	}
	b, ok := u.bytes[r]
	return b, ok
}

// pages are the tables that golang.org/x/text lacks. A byte has a character only where all sources
// that have the page agree on it; elsewhere it has none, and such a character is drawn. So CP857
// has no euro: older printers print nothing at D5.
//
// Sources, compared byte by byte: the mappings of the Unicode consortium as Python's and glibc's
// codecs have them, ICU's, and NielsLeenheer/CodepageEncoder (MIT). CP851 is from the last two,
// TCVN-3 from the last and from escpos-printer-db (CC-BY-4.0), KATAKANA from Epson's ESC t, "Page 1
// (Katakana)", and escpos-printer-db. Missing because only one source has them, or because sources
// differ on most of their letters: CP853, CP1098, Star's pages of four digits, Thai.
//
// Pages of Hebrew and Arabic letters (CP720, CP856, CP864) are here to compare paper with. No
// ticket is spelt by them: a printer sets letters from left to right as the bytes come.
var pages = map[string]*upper{
	"CP1125": page(
		"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ" +
			"абвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
			"└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
			"рстуфхцчшщъыьэюяЁёҐґЄєІіЇї\uFFFD\uFFFD№¤■\u00A0"),
	"CP720": page(
		"\uFFFD\uFFFDéâ\uFFFDà\uFFFDçêëèïî\uFFFD\uFFFD\uFFFD" +
			"\uFFFD\u0651\u0652ô¤\u0640ûù\u0621\u0622\u0623\u0624£\u0625\u0626\u0627" +
			"\u0628\u0629\u062A\u062B\u062C\u062D\u062E\u062F\u0630\u0631\u0632\u0633\u0634\u0635" +
			"«»" +
			"░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧" +
			"╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
			"\u0636\u0637\u0638\u0639\u063A\u0641µ\u0642\u0643\u0644\u0645\u0646\u0647\u0648" +
			"\u0649\u064A" +
			"≡\u064B\u064C\u064D\u064E\u064F\u0650≈°∙·√ⁿ²■\u00A0"),
	"CP737": page(
		"ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθ" +
			"ικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
			"└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
			"ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u00A0"),
	"CP772": page(
		"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ" +
			"абвгдежзийклмноп░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐" +
			"└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀" +
			"рстуфхцчшщъыьэюяЁё≥≤„“÷≈°∙·√ⁿ²■\u00A0"),
	"CP774": page(
		"ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ" +
			"áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐" +
			"└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀" +
			"α\uFFFDΓπΣσµτΦΘΩδ∞φε\uFFFD≡±≥≤„“÷≈°∙\uFFFD√ⁿ²■\u00A0"),
	"CP775": page(
		"ĆüéāäģåćłēŖŗīŹÄÅÉæÆōöĢ¢ŚśÖÜø£Ø×¤" +
			"ĀĪóŻżź”¦©®¬½¼Ł«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐" +
			"└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀" +
			"ÓßŌŃõÕµńĶķĻļņĒŅ’\u00AD±“¾¶§÷„°∙·¹³²■\u00A0"),
	"CP851": page(
		"ÇüéâäàΆçêëèïîΈÄΉΊ\uFFFDΌôöΎûùΏÖÜά£έήί" +
			"ϊΐόύΑΒΓΔΕΖΗ½ΘΙ«»░▒▓│┤ΚΛΜΝ╣║╗╝ΞΟ┐" +
			"└┴┬├─┼ΠΡ╚╔╩╦╠═╬ΣΤΥΦΧΨΩαβγ┘┌█▄δε▀" +
			"ζηθικλμνξοπρσςτ´\u00AD±υφχ§ψ¸°¨ωϋΰώ■\u00A0"),
	"CP856": page(
		"\u05D0\u05D1\u05D2\u05D3\u05D4\u05D5\u05D6\u05D7\u05D8\u05D9\u05DA\u05DB\u05DC\u05DD" +
			"\u05DE\u05DF" +
			"\u05E0\u05E1\u05E2\u05E3\u05E4\u05E5\u05E6\u05E7\u05E8\u05E9\u05EA\uFFFD£\uFFFD×" +
			"\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD®¬½¼\uFFFD«»" +
			"░▒▓│┤\uFFFD\uFFFD\uFFFD©╣║╗╝¢¥┐└┴┬├─┼\uFFFD\uFFFD╚╔╩╦╠═╬¤" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD┘┌█▄¦\uFFFD▀" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDµ\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD" +
			"\uFFFD´" +
			"\u00AD±‗¾¶§÷¸°¨\uFFFD¹³²■\u00A0"),
	"CP857": page(
		"ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞş" +
			"áíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐" +
			"└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\uFFFDÍÎÏ┘┌█▄¦Ì▀" +
			"ÓßÔÒõÕµ\uFFFD×ÚÛÙìÿ¯´\u00AD±\uFFFD¾¶§÷¸°¨·¹³²■\u00A0"),
	"CP861": page(
		"ÇüéâäàåçêëèÐðÞÄÅÉæÆôöþûÝýÖÜø£Ø₧ƒ" +
			"áíóúÁÍÓÚ¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
			"└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
			"αßΓπΣσ\uFFFDτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0"),
	"CP864": page(
		"°·∙√▒─│┼┤┬├┴┐┌└┘β∞φ±½¼≈«»\uFEF7\uFEF8\uFFFD\uFFFD\uFEFB\uFEFC\uFFFD" +
			"\u00A0\u00AD\uFE82£¤\uFE84\uFFFD\uFFFD\uFE8E\uFE8F\uFE95\uFE99،\uFE9D\uFEA1\uFEA5" +
			"\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669\uFED1\u061B\uFEB1\uFEB5" +
			"\uFEB9\u061F" +
			"¢\uFE80\uFE81\uFE83\uFE85\uFECA\uFE8B\uFE8D\uFE91\uFE93\uFE97\uFE9B\uFE9F\uFEA3" +
			"\uFEA7\uFEA9" +
			"\uFEAB\uFEAD\uFEAF\uFEB3\uFEB7\uFEBB\uFEBF\uFEC1\uFEC5\uFECB\uFECF¦¬÷×\uFEC9" +
			"\u0640\uFED3\uFED7\uFEDB\uFEDF\uFEE3\uFEE7\uFEEB\uFEED\uFEEF\uFEF3\uFEBD\uFECC\uFECE" +
			"\uFECD\uFEE1" +
			"\uFE7D\u0651\uFEE5\uFEE9\uFEEC\uFEF0\uFEF2\uFED0\uFED5\uFEF5\uFEF6\uFEDD\uFED9\uFEF1" +
			"■\uFFFD"),
	"CP869": page(
		"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDΆ\uFFFD\uFFFD¬¦‘’Έ―Ή" +
			"ΊΪΌ\uFFFD\uFFFDΎΫ©Ώ²³ά£έήίϊΐόύΑΒΓΔΕΖΗ½ΘΙ«»" +
			"░▒▓│┤ΚΛΜΝ╣║╗╝ΞΟ┐└┴┬├─┼ΠΡ╚╔╩╦╠═╬Σ" +
			"ΤΥΦΧΨΩαβγ┘┌█▄δε▀ζηθικλμνξοπρσςτ\uFFFD" +
			"\u00AD±υφχ§ψ΅°¨ωϋΰώ■\u00A0"),
	"KATAKANA": page(
		"▁▂▃▄▅▆▇█▏▎▍▌▋▊▉┼┴┬┤├▔─│▕┌┐└┘╭╮╰╯" +
			"\uFFFD｡｢｣､･ｦｧｨｩｪｫｬｭｮｯｰｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿ" +
			"ﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝﾞﾟ" +
			"═╞╪╡◢◣◥◤♠♥♦♣●○╱╲╳円年月日時分秒〒市区町村人▓\uFFFD"),
	"RK1048": page(
		"ЂЃ‚ѓ„…†‡€‰Љ‹ЊҚҺЏђ‘’“”•–—\uFFFD™љ›њқһџ" +
			"\u00A0ҰұӘ¤Ө¦§Ё©Ғ«¬\u00AD®Ү°±Ііөµ¶·ё№ғ»әҢңү" +
			"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ" +
			"абвгдежзийклмнопрстуфхцчшщъыьэюя"),
	"TCVN-3-1": page(
		"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD" +
			"\uFFFD\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD" +
			"\uFFFD\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDăâêôơưđ\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDàảãáạ\uFFFDằẳẵắ\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDặầẩẫấậè\uFFFDẻẽ" +
			"éẹềểễếệìỉ\uFFFD\uFFFD\uFFFDĩíịò\uFFFDỏõóọồổỗốộờởỡớợù" +
			"\uFFFDủũúụừửữứựỳỷỹýỵ\uFFFD"),
	"TCVN-3-2": page(
		"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD" +
			"\uFFFD\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD" +
			"\uFFFD\uFFFD" +
			"\uFFFDĂÂ\uFFFD\uFFFD\uFFFD\uFFFDÐ\uFFFD\uFFFDÊÔƠƯ\uFFFD\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDÀẢÃÁẠ\uFFFDẰẲẴẮ\uFFFD" +
			"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDẶẦẨẪẤẬÈ\uFFFDẺẼ" +
			"ÉẸỀỂỄẾỆÌỈ\uFFFD\uFFFD\uFFFDĨÍỊÒ\uFFFDỎÕÓỌỒỔỖỐỘỜỞỠỚỢÙ" +
			"\uFFFDỦŨÚỤỪỬỮỨỰỲỶỸÝỴ\uFFFD"),
}
