#!/usr/bin/env python3
"""Makes the fonts in this folder (Debian: python3-fonttools)."""

import os
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen

GLYPHS = [".notdef", "cat"]


def draw(pen, right):
    pen.moveTo((100, 0))
    pen.lineTo((100, 800))
    pen.lineTo((right, 800))
    pen.lineTo((right, 0))
    pen.closePath()
    return pen


def build(name, is_ttf, right):
    builder = FontBuilder(1000, isTTF=is_ttf)
    builder.setupGlyphOrder(GLYPHS)
    builder.setupCharacterMap({ord("猫"): "cat"})
    if is_ttf:
        builder.setupGlyf({g: draw(TTGlyphPen(None), right).glyph() for g in GLYPHS})
    else:
        strings = {g: draw(T2CharStringPen(1000, None), right).getCharString() for g in GLYPHS}
        builder.setupCFF("Test-CFF", {}, strings, {})
    builder.setupHorizontalMetrics({g: (1000, 100) for g in GLYPHS})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Test", "styleName": "Regular", "psName": "Test"})
    builder.setupOS2()
    builder.setupPost()
    builder.updateHead(created=0, modified=0)
    builder.font.recalcTimestamp = False
    builder.save(os.path.join(os.path.dirname(os.path.abspath(__file__)), name))


build("cat-cff.otf", False, 900)
build("cat-truetype.ttf", True, 500)
