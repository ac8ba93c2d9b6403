"""Writes small PDF files, one line of text to a page."""


def pdf(*pages: str, trailer: bytes = b"") -> bytes:
    """A PDF with a text on each page, in letters of ASCII. What is in `trailer` is added to its trailer."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids: list[bytes] = []
    for text in pages:
        lines = text.split("\n")
        shown = " T* ".join(f"({line.translate(_ESCAPED)}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 700 Td {shown} ET".encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        content = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>" % content
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    found = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, each in enumerate(objects, 1):
        places.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    start = len(found)
    found += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    found += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(found) + b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        start,
    )


_ESCAPED = str.maketrans({"(": r"\(", ")": r"\)", "\\": r"\\"})
