import type { ByteReader } from '../../../content/index.ts';
import { printable } from './ssh-error.ts';

const lengthDigits = 4;
const flush = Buffer.from('0000');

// What git has a server say that has no refs but capabilities; old ones say nothing at all.
const noRefs = pktLine(`${'0'.repeat(40)} capabilities^{}\0\n`);

/** How hosting services and git itself say that there is no such repository, or none for us. */
const notFound =
  /not found|does not exist|not appear to be a git repository|no such (file or directory|repository)|could not be found|DENIED by fallthru/i;

/**
 * What git-upload-pack begins with: the refs and capabilities, to the flush that ends them.
 * @throws Error `repository not found`, or what the server says instead
 */
export async function readAdvertisement(
  reader: ByteReader,
  process: { readonly stderr: string },
): Promise<Uint8Array> {
  const lines: Uint8Array[] = [];
  for (;;) {
    const header = await reader.read(lengthDigits);
    if (header.byteLength < lengthDigits) throw refusal(process.stderr);
    const size = lineSize(header);
    if (size === undefined) throw await noGit(header, reader);
    if (size === 0) return Buffer.concat([...(lines.length === 0 ? [noRefs] : lines), flush]);
    const content = await reader.read(size - lengthDigits);
    if (content.byteLength < size - lengthDigits) throw refusal(process.stderr);
    const text = Buffer.from(content).toString('utf8');
    if (text.startsWith('ERR ')) throw refusal(text.slice(4));
    lines.push(header, content);
  }
}

/** The whole line's, zero for a flush; undefined where it is none. */
function lineSize(header: Uint8Array): number | undefined {
  const digits = Buffer.from(header).toString('latin1');
  if (!/^[0-9a-f]{4}$/i.test(digits)) return undefined;
  const size = Number.parseInt(digits, 16);
  return size === 0 || size >= lengthDigits ? size : undefined;
}

function refusal(text: string): Error {
  if (notFound.test(text)) return new Error('repository not found');
  const said = printable(text);
  return new Error(said === '' ? 'the server sent no refs' : `the server says: ${said}`);
}

async function noGit(header: Uint8Array, reader: ByteReader): Promise<Error> {
  const more = (await reader.next(400)) ?? new Uint8Array();
  const said = printable(Buffer.concat([header, more]).toString('utf8'));
  return new Error(`the server does not speak git's protocol, it says: ${said}`);
}

function pktLine(text: string): Buffer {
  const length = (text.length + lengthDigits).toString(16).padStart(lengthDigits, '0');
  return Buffer.from(`${length}${text}`);
}
