import { isUtf8 } from 'node:buffer';

/** Text of bytes; as in Go, each byte that is not UTF-8 is a replacement character of its own. */
export function goText(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : withReplacements(bytes);
}

const replacement = Buffer.from('\ufffd');

// In one pass: a decoder for each character takes minutes for a blob of 64 MiB.
function withReplacements(bytes: Buffer): string {
  const written = Buffer.allocUnsafe(bytes.length * replacement.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const width = widthAt(bytes, at);
    if (width === 0) {
      length += replacement.copy(written, length);
      at += 1;
    }
    for (const end = at + width; at < end; at += 1) {
      written[length] = bytes[at] ?? 0;
      length += 1;
    }
  }
  return written.toString('utf8', 0, length);
}

/** Bytes of a character by its first byte. */
const widths = new Uint8Array(256)
  .fill(1, 0, 0x80)
  .fill(2, 0xc2, 0xe0)
  .fill(3, 0xe0, 0xf0)
  .fill(4, 0xf0, 0xf5);

/** Bytes of the character at the offset; 0 if there is none. */
function widthAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  const width = widths[first] ?? 0;
  for (let next = at + 1; next < at + width; next += 1) {
    if (!isContinuation(bytes[next] ?? 0)) return 0;
  }
  return width < 2 || isSecond(bytes[at + 1] ?? 0, first) ? width : 0;
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0;
}

/** False for characters with a shorter form, for halves of surrogate pairs and beyond Unicode. */
function isSecond(second: number, first: number): boolean {
  if (first === 0xe0) return second >= 0xa0;
  if (first === 0xed) return second < 0xa0;
  if (first === 0xf0) return second >= 0x90;
  return first !== 0xf4 || second < 0x90;
}
