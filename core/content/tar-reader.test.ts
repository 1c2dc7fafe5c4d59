import { Header, Pax } from 'tar';
import { describe, expect, it } from 'vitest';
import { cpuTime } from '../../test/helpers/cpu-time.ts';
import { TerminalError } from '../errors.ts';
import { defaultLimits } from './bundle-files-builder.ts';
import { type ReadTarOptions, readTar, type TarEntry } from './tar-reader.ts';

interface Part {
  readonly path: string;
  readonly type?:
    | 'File'
    | 'Directory'
    | 'SymbolicLink'
    | 'Link'
    | 'CharacterDevice'
    | 'FIFO'
    | 'SparseFile'
    | 'NextFileHasLongPath';
  readonly linkpath?: string;
  readonly content?: string;
  readonly size?: number;
}

function entry({ path, type = 'File', linkpath = '', content = '', size }: Part): Buffer {
  const header = new Header({ path, type, linkpath, size: size ?? Buffer.byteLength(content) });
  const block = Buffer.alloc(512);
  header.encode(block);
  return Buffer.concat([block, padded(Buffer.from(content))]);
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

const end = Buffer.alloc(1024);

async function* chunks(bytes: Buffer, size = 1000): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size)
    yield bytes.subarray(start, start + size);
}

async function* repeated(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (;;) yield bytes;
}

async function read(
  bytes: Buffer,
  limits: ReadTarOptions['limits'] = defaultLimits,
): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  await readTar(chunks(bytes), {
    limits,
    signal: AbortSignal.timeout(120_000),
    onEntry: (entry) => void entries.push(entry),
  });
  return entries;
}

describe('readTar', () => {
  // As Go, Python and GNU tar read them: some tools write the size of the linked file.
  it.each(['Link', 'SymbolicLink', 'CharacterDevice', 'FIFO', 'Directory'] as const)(
    'reads no content of a %s with a size',
    async (type) => {
      const sized = entry({ path: 'a', type, linkpath: 'b', size: 700 });
      const bytes = Buffer.concat([sized, entry({ path: 'f', content: 'abc' }), end]);
      expect((await read(bytes)).map(({ path }) => path)).toEqual(['a', 'f']);
      const extended = new Pax({ path: 'a', size: 700 }).encode();
      expect((await read(Buffer.concat([extended, bytes]))).map(({ path }) => path)).toEqual([
        'a',
        'f',
      ]);
    },
  );

  it('reports files, directories and links in order, paths as written', async () => {
    const bytes = Buffer.concat([
      entry({ path: './', type: 'Directory' }),
      entry({ path: './manifests', type: 'Directory' }),
      entry({ path: './manifests/a.yaml', content: 'a: 1' }),
      entry({ path: 'link', type: 'SymbolicLink', linkpath: '../../etc/passwd' }),
      entry({ path: 'hard', type: 'Link', linkpath: 'manifests/a.yaml' }),
      entry({ path: 'null', type: 'CharacterDevice' }),
      entry({ path: 'pipe', type: 'FIFO' }),
      entry({ path: 'sparse', type: 'SparseFile', content: 'x' }),
      entry({ path: 'big', content: 'b'.repeat(70_000) }),
      end,
    ]);
    const seen = (await read(bytes)).map(({ path, type, linkPath, content }) => [
      type,
      path,
      linkPath ?? content.byteLength,
    ]);
    expect(seen).toEqual([
      ['directory', './', 0],
      ['directory', './manifests', 0],
      ['file', './manifests/a.yaml', 4],
      ['symlink', 'link', '../../etc/passwd'],
      ['hardlink', 'hard', 'manifests/a.yaml'],
      ['other', 'null', 0],
      ['other', 'pipe', 0],
      ['other', 'sparse', 0],
      ['file', 'big', 70_000],
    ]);
  });

  it('takes an entry for the root, as Kaniko writes it first into each layer', async () => {
    const bytes = Buffer.concat([
      entry({ path: '/', type: 'Directory' }),
      entry({ path: 'manifests/a.yaml', content: 'a: 1' }),
      end,
    ]);
    expect((await read(bytes)).map(({ path, type }) => [type, path])).toEqual([
      ['directory', './'],
      ['file', 'manifests/a.yaml'],
    ]);
  });

  it.each(['../evil', 'a/../../evil', '/etc/passwd', '..'])(
    'refuses the path %s by name',
    async (path) => {
      const refused = read(Buffer.concat([entry({ path, content: 'x' }), end]));
      await expect(refused).rejects.toThrow(TerminalError);
      await expect(refused).rejects.toThrow(
        `archive has an entry that leaves the bundle: "${path}"`,
      );
    },
  );

  it('refuses hostile paths of extended headers too', async () => {
    const pax = new Pax({ path: '../evil' }).encode();
    const gnu = entry({ path: 'L', type: 'NextFileHasLongPath', content: '/evil\0' });
    const nul = entry({ path: 'L', type: 'NextFileHasLongPath', content: 'a\0b\0' });
    const file = entry({ path: 'good' });
    await expect(read(Buffer.concat([pax, file, end]))).rejects.toThrow('"../evil"');
    await expect(read(Buffer.concat([gnu, file, end]))).rejects.toThrow('"/evil"');
    await expect(read(Buffer.concat([nul, file, end]))).rejects.toThrow('"a\\u0000b"');
  });

  it('takes long and odd names from extended headers, for one entry only', async () => {
    const long = `${'ä'.repeat(300)}\nb`;
    const bytes = Buffer.concat([
      new Pax({ path: long }).encode(),
      entry({ path: 'short' }),
      entry({ path: 'L', type: 'NextFileHasLongPath', content: `${'l'.repeat(200)}\0` }),
      entry({ path: 'short' }),
      entry({ path: 'short' }),
      end,
    ]);
    expect((await read(bytes)).map(({ path }) => path)).toEqual([long, 'l'.repeat(200), 'short']);
  });

  it('refuses an entry without a name', async () => {
    await expect(read(Buffer.concat([entry({ path: '' }), end]))).rejects.toThrow(
      'archive has an entry without a name',
    );
  });

  it('refuses a path over the limit', async () => {
    const bytes = Buffer.concat([
      new Pax({ path: 'x'.repeat(2000) }).encode(),
      entry({ path: 'x' }),
    ]);
    await expect(read(bytes)).rejects.toThrow('a path of 2000 bytes, over the limit of 1024');
  });

  it('refuses 100,000 entries without reading them all', { tags: ['slow'] }, async () => {
    const block = entry({ path: 'a' });
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; sent < 100_000; sent += 1) yield block;
    }
    const refused = readTar(endless(), {
      limits: defaultLimits,
      signal: AbortSignal.timeout(120_000),
      onEntry: () => undefined,
    });
    await expect(refused).rejects.toThrow('archive has more than 20000 entries');
    expect(sent).toBeLessThan(20_010);
  });

  it('refuses content over the limit by its header alone', async () => {
    let bodies = 0;
    async function* huge(): AsyncGenerator<Uint8Array> {
      yield entry({ path: 'huge', size: 5 * 1024 * 1024 * 1024 });
      for (; ; bodies += 1) yield Buffer.alloc(65_536);
    }
    const refused = readTar(huge(), {
      limits: defaultLimits,
      signal: AbortSignal.timeout(120_000),
      onEntry: () => undefined,
    });
    await expect(refused).rejects.toThrow('more than the limit of 67108864 bytes');
    expect(bodies).toBe(0);
  });

  it('refuses one file over its own limit, by its header', async () => {
    const small = entry({ path: 'small', content: 'x' });
    const limits = { ...defaultLimits, maxFileBytes: 1 };
    expect(await read(Buffer.concat([small, small, end]), limits)).toHaveLength(2);
    const large = Buffer.concat([small, entry({ path: 'large', content: 'xx' }), end]);
    await expect(read(large, limits)).rejects.toThrow(
      'archive has a file of 2 bytes, over the limit of 1 for one file: "large"',
    );
  });

  it('refuses endless extended headers and an endless tail', async () => {
    const limits = { ...defaultLimits, maxBytes: 1000, maxEntries: 10 };
    const options = { limits, signal: AbortSignal.timeout(120_000), onEntry: () => undefined };
    const pax = new Pax({ path: 'x'.repeat(500) }).encode();
    await expect(readTar(repeated(pax), options)).rejects.toThrow('more than the limit');
    await expect(readTar(repeated(end), options)).rejects.toThrow('more than the limit');
  });

  it('refuses an extended header of several megabytes', async () => {
    const bytes = entry({ path: 'L', type: 'NextFileHasLongPath', size: 8_000_000 });
    await expect(read(bytes)).rejects.toThrow('an extended header of 8000000 bytes is too large');
  });

  it('reads a long name of zeros in no time', async () => {
    const content = `${'\0'.repeat(1_000_000)}a\0`;
    const gnu = entry({ path: 'L', type: 'NextFileHasLongPath', content });
    const start = cpuTime();
    await expect(read(Buffer.concat([gnu, entry({ path: 'x' }), end]))).rejects.toThrow('path of');
    expect(cpuTime() - start).toBeLessThan(2_000);
  });

  it('says of a truncated archive that it ends early, wherever it is cut', async () => {
    const whole = Buffer.concat([entry({ path: 'a', content: 'x'.repeat(600) }), end]);
    for (const length of [0, 1, 511, 513, 1111, 1535]) {
      await expect(read(whole.subarray(0, length))).rejects.toThrow(
        new TerminalError('unexpected EOF'),
      );
    }
  });

  it('reads archives without the closing zero blocks', async () => {
    expect(await read(entry({ path: 'a', content: 'x' }))).toHaveLength(1);
  });

  it.each([
    ['garbage', Buffer.alloc(2048, 'garbage')],
    [
      'a gzip that nobody unpacked',
      Buffer.concat([Buffer.from([0x1f, 0x8b, 8]), Buffer.alloc(2048)]),
    ],
    ['a damaged header', Buffer.concat([Buffer.from('b'), entry({ path: 'aa' }).subarray(1), end])],
  ])('refuses %s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow(new TerminalError('archive/tar: invalid tar header'));
  });

  it.each(['9 path=x', '99 path=x\n', 'path=x\n', '5 =x\n', '14 size=-12345\n'])(
    'refuses the pax record %j',
    async (record) => {
      const pax = entry({ path: 'p', content: record });
      // The type flag of an extended header, with the checksum put right.
      pax[156] = 'x'.charCodeAt(0);
      const sum =
        pax.subarray(0, 512).reduce((a, b) => a + b) -
        pax.subarray(148, 156).reduce((a, b) => a + b) +
        256;
      pax.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      const refused = read(Buffer.concat([pax, entry({ path: 'x' }), end]));
      await expect(refused).rejects.toThrow('archive/tar: invalid pax header');
    },
  );

  it('stops at once when aborted, even while the stream hangs', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    async function* hanging(): AsyncGenerator<Uint8Array> {
      yield entry({ path: 'a' });
      controller.abort(reason);
      await new Promise(() => undefined);
    }
    const aborted = readTar(hanging(), {
      limits: defaultLimits,
      signal: controller.signal,
      onEntry: () => undefined,
    });
    await expect(aborted).rejects.toBe(reason);
  });

  it('passes on errors of the stream and of the caller as they are', async () => {
    const lost = new Error('connection reset');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield entry({ path: 'a' });
      throw lost;
    }
    const options = { limits: defaultLimits, signal: AbortSignal.timeout(120_000) };
    await expect(readTar(failing(), { ...options, onEntry: () => undefined })).rejects.toBe(lost);
    const refused = new TerminalError('no thanks');
    const onEntry = (): void => {
      throw refused;
    };
    await expect(readTar(chunks(entry({ path: 'a' })), { ...options, onEntry })).rejects.toBe(
      refused,
    );
  });
});
