import { createHash } from 'node:crypto';
import { readTar, type TarEntry, unpackTar } from '../../../../core/content/index.ts';
import { TerminalError } from '../../../../core/errors.ts';
import { type FuzzTarget, streamOf, Violation } from '../../fuzz-target.ts';
import { askReference } from '../../reference/reference.ts';
import { expectTree, limits, sampleTars } from './content.ts';

interface GoEntry {
  readonly Name: string;
  readonly Type: string;
  readonly Link: string;
  readonly Digest: string;
}

/** Uncompressed archives, compared with archive/tar. */
export const tar: FuzzTarget = {
  name: 'tar',
  seeds: sampleTars,
  words: [
    'ustar\0',
    'ustar  \0',
    '30 path=',
    'size=',
    'GNU.sparse.map',
    '././@LongLink',
    '0000000',
    '/../',
    '\0\0\0\0',
  ],
  refusals: [TerminalError],
  async read(input, signal) {
    const ours = await entriesOf(input, signal);
    const go = await askReference('tar', input);
    if (!(ours instanceof Error) && go !== undefined) compare(ours, go);
    expectTree(await unpackTar(streamOf(input), { limits, signal }));
  },
};

async function entriesOf(
  input: Uint8Array,
  signal: AbortSignal,
): Promise<readonly TarEntry[] | Error> {
  const entries: TarEntry[] = [];
  try {
    await readTar(streamOf(input), {
      limits,
      signal,
      onEntry: (entry) => void entries.push(entry),
    });
    return entries;
  } catch (error) {
    return error as Error;
  }
}

/** What we take, Go takes as the same files; we may refuse more. */
function compare(
  ours: readonly TarEntry[],
  go: { readonly value?: unknown; readonly error?: string },
): void {
  if (go.error !== undefined) {
    // Go is strict about fields that are nobody's business here, such as owners and times, and about
    // the blocks of zeros at the end.
    if (
      /^(archive\/tar: (invalid tar header|header field too long)|unexpected EOF)$/.test(go.error)
    ) {
      return;
    }
    throw new Violation(`takes an archive that Go refuses: ${go.error}`);
  }
  const theirs = (go.value as readonly GoEntry[]).filter(({ Type }) => Type !== 'g');
  const files = ours.filter(({ type }) => type === 'file').map(lineOf);
  const goFiles = theirs.filter(({ Type }) => '07\0'.includes(Type)).map(goLineOf);
  if (files.join('\n') === goFiles.join('\n')) return;
  const at = files.findIndex((line, index) => line !== goFiles[index]);
  throw new Violation(
    `reads other files than Go, such as ${JSON.stringify([files[at], goFiles[at]])}`,
  );
}

function lineOf({ path, content }: TarEntry): string {
  return `${shownName(path)} ${createHash('sha256').update(content).digest('hex')}`;
}

function goLineOf({ Name, Digest }: GoEntry): string {
  return `${shownName(Name)} ${Digest}`;
}

/** Of bytes that are no UTF-8 Go replaces each, and Node some together. */
function shownName(name: string): string {
  return name.replaceAll(/\ufffd+/g, '\ufffd');
}
