#!/usr/bin/python3
"""Makes the font files beside this script. README.md says from which packages and how."""

import os
import subprocess
import sys
import tempfile
import zlib

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

HERE = os.path.dirname(os.path.abspath(__file__))
NOTO = "/usr/share/fonts/truetype/noto/"
UNIFONT = "/usr/share/fonts/opentype/unifont/"
CJK = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"
TERMINUS = "/usr/share/fonts/X11/misc/"

# Outlines: file here, source, and the code points to keep beside the shaping they need.
OUTLINES = [
    ("mono.ttf", NOTO + "NotoSansMono-Regular.ttf",
     "20-7E,A0-24F,250-2FF,300-36F,370-3FF,400-52F,1D00-1EFF,1F00-1FFF,2000-206F,20A0-20BF,2100-214F"),
    ("arabic.ttf", NOTO + "NotoSansArabic-Regular.ttf", "*"),
    ("hebrew.ttf", NOTO + "NotoSansHebrew-Regular.ttf", "*"),
    ("devanagari.ttf", NOTO + "NotoSansDevanagari-Regular.ttf", "*"),
    ("bengali.ttf", NOTO + "NotoSansBengali-Regular.ttf", "*"),
    ("gurmukhi.ttf", NOTO + "NotoSansGurmukhi-Regular.ttf", "*"),
    ("gujarati.ttf", NOTO + "NotoSansGujarati-Regular.ttf", "*"),
    ("tamil.ttf", NOTO + "NotoSansTamil-Regular.ttf", "*"),
    ("telugu.ttf", NOTO + "NotoSansTelugu-Regular.ttf", "*"),
    ("kannada.ttf", NOTO + "NotoSansKannada-Regular.ttf", "*"),
    ("malayalam.ttf", NOTO + "NotoSansMalayalam-Regular.ttf", "*"),
    ("sinhala.ttf", NOTO + "NotoSansSinhala-Regular.ttf", "*"),
    ("khmer.ttf", NOTO + "NotoSansKhmer-Regular.ttf", "*"),
    ("lao.ttf", NOTO + "NotoSansLao-Regular.ttf", "*"),
    ("myanmar.ttf", NOTO + "NotoSansMyanmar-Regular.ttf", "*"),
    ("armenian.ttf", NOTO + "NotoSansArmenian-Regular.ttf", "*"),
    ("georgian.ttf", NOTO + "NotoSansGeorgian-Regular.ttf", "*"),
    ("ethiopic.ttf", NOTO + "NotoSansEthiopic-Regular.ttf", "*"),
]


def subset(source, name, unicodes):
    subprocess.run([
        sys.executable, "-m", "fontTools.subset", source, "--unicodes=" + unicodes,
        "--output-file=" + os.path.join(HERE, name), "--layout-features=*", "--no-hinting",
        "--desubroutinize", "--notdef-outline", "--name-IDs=*", "--drop-tables+=DSIG,meta,STAT",
    ], check=True)


def han():
    """The characters of GB 2312, JIS X 0208 level 1, KS X 1001 and the kana, in their Chinese forms."""
    points = set(range(0x3000, 0x3100)) | set(range(0xFF01, 0xFFEF))
    for codec, first, last in (("gb2312", 16, 87), ("euc_jp", 16, 47), ("euc_kr", 16, 40)):
        for row in range(first, last + 1):
            for cell in range(1, 95):
                try:
                    points.add(ord(bytes([0xA0 + row, 0xA0 + cell]).decode(codec)))
                except UnicodeDecodeError:
                    pass
    subprocess.run([
        sys.executable, "-m", "fontTools.subset", CJK, "--font-number=2",
        "--unicodes=" + ",".join(f"{p:X}" for p in sorted(points)),
        "--output-file=" + os.path.join(HERE, "han.otf"), "--layout-features=", "--no-hinting",
        "--drop-tables+=GSUB,GPOS,GDEF,BASE,VORG,vhea,vmtx,DSIG", "--notdef-outline",
        "--name-IDs=*",
    ], check=True)


def pixels(glyphs, name, top, bottom, unit):
    """The dots of a glyph made of squares of unit font units: rows of (x0, set of x)."""
    pen = DecomposingRecordingPen(glyphs)
    glyphs[name].draw(pen)
    edges, start, at = [], None, None
    for op, args in pen.value:
        if op == "moveTo":
            start = at = args[0]
        elif op == "lineTo":
            edges.append((at, args[0]))
            at = args[0]
        elif op in ("closePath", "endPath"):
            edges.append((at, start))
        else:
            raise ValueError(f"{name}: {op} in a bitmap font")
    rows = []
    for row in range(top, bottom, -1):
        y = (row - 0.5) * unit
        crossings = sorted(
            (a[0], 1 if b[1] > a[1] else -1)
            for a, b in edges if (a[1] > y) != (b[1] > y))
        dots, winding = set(), 0
        for i, (x, way) in enumerate(crossings):
            if winding != 0:
                dots.update(range(round(crossings[i - 1][0] / unit), round(x / unit)))
            winding += way
        rows.append(dots)
    return rows


def pack(cells, ascent, name):
    """cells: {code point: (advance, offset, width, rows of ints)}; the format is in cells.go."""
    blocks = {}
    for point, cell in cells.items():
        blocks.setdefault(point >> 8, {})[point & 255] = cell
    index, data = b"", b""
    for number in sorted(blocks):
        body = b""
        for low, (advance, offset, width, rows) in sorted(blocks[number].items()):
            size = (width + 7) // 8
            body += bytes([low, advance, offset & 255, width])
            body += b"".join(row.to_bytes(size, "big") for row in rows)
        squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
        body = squeezer.compress(body) + squeezer.flush()
        data += body
        index += number.to_bytes(2, "big") + len(data).to_bytes(4, "big")
    height = len(next(iter(cells.values()))[3])
    head = bytes([height, ascent]) + len(blocks).to_bytes(2, "big")
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(head + index + data)


def unifont():
    cells = {}
    for source in ("unifont.otf", "unifont_upper.otf"):
        font = TTFont(UNIFONT + source)
        glyphs, unit = font.getGlyphSet(), font["head"].unitsPerEm // 16
        top = font["hhea"].ascent // unit
        for point, name in font.getBestCmap().items():
            rows = pixels(glyphs, name, top, top - 16, unit)
            every = set().union(*rows)
            advance = font["hmtx"][name][0] // unit
            if not every:
                cells[point] = (advance, 0, 0, [0] * 16)
                continue
            left, right = min(every), max(every) + 1
            # Whole cells compress better than tight boxes.
            if advance and 0 <= left and right <= advance:
                left, right = 0, advance
            width = right - left
            shift = (width + 7) // 8 * 8 - 1
            cells[point] = (advance, left, width,
                            [sum(1 << (shift - (x - left)) for x in row) for row in rows])
    pack(cells, 14, "lastresort.cells")


def bdf(source):
    """Reads a cell font by pcf2bdf."""
    with tempfile.NamedTemporaryFile(suffix=".bdf") as out:
        subprocess.run(["pcf2bdf", "-o", out.name, source], check=True)
        lines = open(out.name, encoding="latin-1").read().split("\n")
    box, cells, point, rows = None, {}, None, None
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "FONTBOUNDINGBOX":
            box = [int(n) for n in rest.split()]
        elif word == "ENCODING":
            point = int(rest)
        elif word == "BBX":
            w, h, x, y = (int(n) for n in rest.split())
        elif word == "BITMAP":
            rows = []
        elif word == "ENDCHAR":
            full, size = [0] * box[1], (box[0] + 7) // 8
            top = box[3] + box[1] - (y + h)
            for i, row in enumerate(rows):
                full[top + i] = row << (size * 8 - (w + 7) // 8 * 8) >> x
            cells[point] = (box[0], 0, box[0], full)
            rows = None
        elif rows is not None:
            rows.append(int(line, 16))
    return cells, box[1] + box[3]


def main():
    for name, source, unicodes in OUTLINES:
        subset(source, name, unicodes)
    subset(sys.argv[1], "emoji.ttf", "*")
    # Debian's NotoLoopedThai 1.00 puts tone marks into the vowels below them.
    subset(sys.argv[2], "thai.ttf", "*")
    han()
    unifont()
    for size in (24, 20, 16, 12):
        # The bold weight: its strokes are two dots wide, as those of printers are.
        cells, ascent = bdf(f"{TERMINUS}ter-u{size}b_unicode.pcf.gz")
        # Hebrew has a better font, and what is private means something else elsewhere.
        cells = {point: cell for point, cell in cells.items()
                 if not (0x590 <= point < 0x600 or 0xE000 <= point < 0xF900)}
        pack(cells, ascent, f"cell{size}.cells")


main()
