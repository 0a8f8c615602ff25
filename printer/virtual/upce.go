package virtual

import (
	"fmt"
	"strings"

	"github.com/boombuler/barcode/ean"
)

// Modules of the digits in UPC-E, with odd parity; even parity is the same backwards with bars and
// gaps exchanged. Source: ISO/IEC 15420, UPC-E, number sets A and B.
var upcOdd = [10]string{"0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111",
	"0111011", "0110111", "0001011"}

// upcParity says which of the six digits have even parity, by check digit, for number system 0; for
// 1 it is the other way round. Source: ISO/IEC 15420, UPC-E, table of number set sequences.
var upcParity = [10]string{"EEEOOO", "EEOEOO", "EEOOEO", "EEOOOE", "EOEEOO", "EOOEEO", "EOOOEE",
	"EOEOEO", "EOEOOE", "EOOEOE"}

// upcE draws UPC-E from six to eight of its own digits, or from eleven or twelve of UPC-A whose
// zeros can be left out.
func upcE(digits string) (bars []bool, says string, err error) {
	system, six, err := upcShort(digits)
	if err != nil {
		return nil, "", err
	}
	whole, err := ean.Encode("0" + upcLong(system, six))
	if err != nil {
		return nil, "", err
	}
	check := whole.Content()[12]
	if n := len(digits); (n == 8 || n == 12) && digits[n-1] != check {
		return nil, "", fmt.Errorf("%q, expected check digit %c", digits, check)
	}
	var modules strings.Builder
	modules.WriteString("101")
	for i, d := range []byte(six) {
		parity := upcParity[check-'0'][i]
		odd := upcOdd[d-'0']
		if (parity == 'O') == (system == '0') {
			modules.WriteString(odd)
			continue
		}
		for j := len(odd) - 1; j >= 0; j-- {
			modules.WriteByte(odd[j] ^ 1)
		}
	}
	modules.WriteString("010101")
	for _, m := range modules.String() {
		bars = append(bars, m == '1')
	}
	return bars, string(system) + six + string(check), nil
}

// upcShort finds the number system and the six digits.
func upcShort(digits string) (system byte, six string, err error) {
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, "", fmt.Errorf("%q, expected digits", digits)
		}
	}
	switch len(digits) {
	case 6:
		return '0', digits, nil
	case 7, 8:
		system, six = digits[0], digits[1:7]
	case 11, 12:
		system, six = digits[0], upcSqueeze(digits[1:11])
		if six == "" {
			return 0, "", fmt.Errorf("%q has no zeros that UPC-E could leave out", digits)
		}
	default:
		return 0, "", fmt.Errorf("%q has %d digits", digits, len(digits))
	}
	if system > '1' {
		return 0, "", fmt.Errorf("%q, expected number system 0 or 1", digits)
	}
	return system, six, nil
}

// upcSqueeze leaves out the zeros between maker (five digits) and product (five); empty where that
// cannot be done.
func upcSqueeze(ten string) string {
	maker, product := ten[:5], ten[5:]
	switch {
	case maker[2] <= '2' && maker[3:] == "00" && product[:2] == "00":
		return maker[:2] + product[2:] + maker[2:3]
	case maker[3:] == "00" && product[:3] == "000":
		return maker[:3] + product[3:] + "3"
	case maker[4] == '0' && product[:4] == "0000":
		return maker[:4] + product[4:] + "4"
	case product[:4] == "0000" && product[4] >= '5':
		return maker + product[4:]
	}
	return ""
}

// upcLong puts the zeros back: eleven digits of UPC-A.
func upcLong(system byte, six string) string {
	s := string(system)
	switch last := six[5]; last {
	case '0', '1', '2':
		return s + six[:2] + six[5:] + "0000" + six[2:5]
	case '3':
		return s + six[:3] + "00000" + six[3:5]
	case '4':
		return s + six[:4] + "00000" + six[4:5]
	default:
		return s + six[:5] + "0000" + string(last)
	}
}
