/** Bytes by which opm detects a media type, and their offset. */
interface Signature {
  readonly mediaType: string;
  readonly at: number;
  readonly bytes: Uint8Array;
}

function signature(mediaType: string, hex: string, at = 0): Signature {
  return { mediaType, at, bytes: Buffer.from(hex, 'hex') };
}

const signatures: readonly Signature[] = [
  signature('image/jpeg', 'ffd8ff'),
  signature('image/jp2', '0000000c6a5020200d0a870a00'),
  signature('image/png', '89504e47'),
  signature('image/gif', '474946'),
  signature('image/webp', '57454250', 8),
  signature('image/tiff', '49492a00'),
  signature('image/tiff', '4d4d002a'),
  signature('image/bmp', '424d'),
  signature('image/vnd.ms-photo', '4949bc'),
  signature('image/vnd.adobe.photoshop', '38425053'),
  signature('image/vnd.microsoft.icon', '00000100'),
  // No images, but often taken for one.
  signature('application/pdf', '25504446'),
  signature('application/zip', '504b0304'),
  signature('application/gzip', '1f8b08'),
];

/** Media type of an icon by its first bytes, as opm detects it; empty if unknown. */
export function iconMediaType(content: Uint8Array): string {
  if (isSvg(content)) return 'image/svg+xml';
  const found = signatures.find(({ at, bytes }) =>
    bytes.every((byte, index) => content[at + index] === byte),
  );
  return found?.mediaType ?? '';
}

const start = 24;

function isSvg(content: Uint8Array): boolean {
  const isBinary = content.length >= start && content.subarray(0, start).some((byte) => byte <= 8);
  if (isBinary) return false;
  const text = Buffer.from(content).toString('utf8');
  return beginsAsSvg.test(withoutComments(text)) && /<\/svg>\s*$/i.test(text);
}

const beginsAsSvg = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype svg[^>]*>\s*)?<svg[^>]*>/i;

/** Comments before the first element have any length, so no regular expression scans them. */
function withoutComments(text: string): string {
  let rest = text;
  for (;;) {
    const at = rest.search(/<!--|<svg/i);
    if (at < 0 || !rest.startsWith('<!--', at)) return rest;
    const end = rest.indexOf('-->', at);
    if (end < 0) return rest;
    rest = rest.slice(0, at) + rest.slice(end + '-->'.length);
  }
}
