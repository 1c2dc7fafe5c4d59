import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { TarEntry } from '../../../deploy/release/tar-archive.ts';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { type LayerContent, layerArchive } from '../../../test/helpers/layer-archive.ts';
import { defaultLimits } from '../../content/index.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import { TerminalError } from '../../errors.ts';
import { LayeredTree } from './layers.ts';

async function* bytes(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.byteLength; start += 10_000) {
    yield content.subarray(start, start + 10_000);
  }
}

interface Applied {
  readonly files: Record<string, string>;
  readonly directories: string[];
}

async function apply(
  layers: readonly LayerContent[],
  limits: ContentLimits = defaultLimits,
): Promise<Applied> {
  const tree = new LayeredTree({ isSystem: true, limits, signal: AbortSignal.timeout(120_000) });
  for (const layer of layers) await tree.apply(bytes((await layerArchive(layer)).bytes));
  const { files, directories } = tree.tree.bundleFiles(limits);
  return {
    files: Object.fromEntries(
      [...files].map(([path, file]) => [path, Buffer.from(file).toString()]),
    ),
    directories: [...directories],
  };
}

/** One layer of the given entries. */
async function applyEntries(...tarEntries: TarEntry[]): Promise<Applied> {
  return await apply([{ tarEntries }]);
}

describe('layers', () => {
  it('lie over each other', async () => {
    const { files, directories } = await apply([
      { files: { 'a/x': '1', 'a/y': '1', 'b/': '', c: '1' } },
      { files: { 'a/y': '2', 'a/z': '2' }, compression: 'zstd' },
      { files: { './c': '3' }, compression: 'none' },
    ]);
    expect(files).toEqual({ 'a/x': '1', 'a/y': '2', 'a/z': '2', c: '3' });
    expect(directories).toEqual(['a', 'b']);
  });

  it('put a directory in place of a file and a file in place of a directory', async () => {
    const { files } = await apply([
      { files: { 'a/x': '1', b: '1' } },
      { files: { a: '2', 'b/x': '2' } },
    ]);
    expect(files).toEqual({ a: '2', 'b/x': '2' });
  });

  it('may be empty', async () => {
    expect(await apply([{ files: {} }])).toEqual({ files: {}, directories: [] });
    expect(await apply([])).toEqual({ files: {}, directories: [] });
  });

  it('leave out what upstream leaves out, uncounted and unchecked', async () => {
    const { files, directories } = await apply(
      [
        {
          tarEntries: [
            { name: 'dev/null', type: 'CharacterDevice' },
            { name: './etc/passwd', content: 'x' },
            { name: 'etc/mtab', type: 'SymbolicLink', linkpath: '../../../proc/mounts' },
            { name: 'bin/', type: 'Directory' },
            { name: 'bin/busybox', content: 'x'.repeat(90) },
            { name: 'bin/ls', type: 'Link', linkpath: 'bin/busybox' },
            { name: 'product_uuid', content: 'x' },
            { name: 'binary', content: 'x' },
            { name: 'a/bin/x', content: 'x' },
          ],
        },
      ],
      { ...defaultLimits, maxBytes: 100, maxEntries: 5 },
    );
    expect(Object.keys(files)).toEqual(['a/bin/x', 'binary']);
    expect(directories).toEqual(['a', 'a/bin']);
  });

  it('count skipped files towards the limits', async () => {
    const layer = { files: { 'bin/x': 'x'.repeat(200) } };
    await expect(apply([layer], { ...defaultLimits, maxBytes: 100 })).rejects.toThrow(
      '--max-content-bytes',
    );
  });
});

describe('whiteouts', () => {
  it('hide a file and a whole directory of the layers below', async () => {
    const { files, directories } = await apply([
      { files: { 'a/x': '1', 'a/y': '1', 'b/c/x': '1' } },
      { files: { 'a/.wh.x': '', '.wh.b': '' } },
    ]);
    expect(files).toEqual({ 'a/y': '1' });
    expect(directories).toEqual(['a']);
  });

  it('hide nothing of their own layer, wherever they stand', async () => {
    const { files } = await apply([
      { files: { 'a/x': '1', 'a/old': '1', 'b/old': '1' } },
      {
        tarEntries: [
          { name: 'a/x', content: '2' },
          { name: 'a/.wh.x' },
          { name: 'b/new', content: '2' },
          { name: 'b/.wh..wh..opq' },
        ],
      },
    ]);
    expect(files).toEqual({ 'a/x': '2', 'a/old': '1', 'b/new': '2' });
  });

  it('may make the whole image opaque', async () => {
    const { files } = await apply([
      { files: { 'a/x': '1' } },
      { files: { '.wh..wh..opq': '', b: '2' } },
    ]);
    expect(files).toEqual({ b: '2' });
  });

  it.each([
    '.wh.nothing',
    'no/such/.wh.x',
    '.wh.',
    '.wh..',
    '.wh...',
    '.wh..wh.plnk',
    'x/.wh..wh..opq',
  ])('pass where there is nothing to hide: %s', async (name) => {
    const { files } = await apply([{ files: { x: '1' } }, { files: { [name]: '' } }]);
    expect(files).toEqual({ x: '1' });
  });

  it('are quick, however many', { tags: ['slow'] }, async () => {
    const files = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`d/${i}`, '']));
    const whiteouts = Object.keys(files).map((path) => ({ name: path.replace('/', '/.wh.') }));
    const started = cpuTime();
    const result = await apply([{ files }, { tarEntries: whiteouts }]);
    expect(result).toEqual({ files: {}, directories: ['d'] });
    expect(cpuTime() - started).toBeLessThan(5_000);
  });
});

describe('links', () => {
  it.each([
    ['x', 'y'],
    ['a/x', '../y'],
    ['a/b/x', '../../c/./d'],
    ['a/x', '/etc/passwd'],
    ['a/x', '/a/../b'],
    ['a/x', 'nothing/there'],
    ['a/x', '.'],
  ])('symlink %s to %s stays inside and is dropped', async (name, linkpath) => {
    const result = await applyEntries({ name, type: 'SymbolicLink', linkpath });
    expect(result.files).toEqual({});
  });

  it.each([
    ['x', '..'],
    ['x', '../x'],
    ['a/x', '../../etc/passwd'],
    ['a/x', '/../etc'],
    ['a/x', 'b/../../../x'],
  ])('symlink %s to %s leaves the image and is refused', async (name, linkpath) => {
    await expect(applyEntries({ name, type: 'SymbolicLink', linkpath })).rejects.toThrow(
      new TerminalError(
        `symlink ${JSON.stringify(name)} points outside of the image: ${JSON.stringify(linkpath)}`,
      ),
    );
  });

  it('a symlink takes the place of a file, and is not followed', async () => {
    const { files, directories } = await apply([
      { files: { 'a/x': '1', link: '1' } },
      {
        tarEntries: [
          { name: 'link', type: 'SymbolicLink', linkpath: 'a' },
          { name: 'link/x', content: '2' },
        ],
      },
    ]);
    expect(files).toEqual({ 'a/x': '1', 'link/x': '2' });
    expect(directories).toEqual(['a', 'link']);
    const dropped = await apply([
      { files: { 'a/x': '1' } },
      { tarEntries: [{ name: 'a', type: 'SymbolicLink', linkpath: '/b' }] },
    ]);
    expect(dropped).toEqual({ files: {}, directories: [] });
  });

  it('a hard link is a copy of a file of the same layer or of one below', async () => {
    const { files } = await apply([
      { files: { 'a/x': '1', y: '1' } },
      {
        tarEntries: [
          { name: 'a/x', content: '2' },
          { name: 'b', type: 'Link', linkpath: 'a/x' },
          { name: 'c', type: 'Link', linkpath: '/y' },
          { name: 'd', type: 'Link', linkpath: './a/../c' },
        ],
      },
    ]);
    expect(files).toEqual({ 'a/x': '2', y: '1', b: '2', c: '1', d: '1' });
  });

  it('a hard link to a symlink is dropped with it', async () => {
    const { files } = await applyEntries(
      { name: 'a', type: 'SymbolicLink', linkpath: 'b' },
      { name: 'c', type: 'Link', linkpath: 'a' },
    );
    expect(files).toEqual({});
  });

  it.each([
    ['nowhere', 'which is not a file of the bundle'],
    ['a', 'which is not a file of the bundle'],
    ['etc/passwd', 'which is not a file of the bundle'],
    ['', 'which is not a file of the bundle'],
    ['../x', 'points outside of the image: "../x"'],
  ])('a hard link to %j is refused', async (linkpath, text) => {
    const refused = applyEntries(
      { name: 'a/', type: 'Directory' },
      { name: 'etc/passwd', content: 'x' },
      { name: 'link', type: 'Link', linkpath },
    );
    await expect(refused).rejects.toThrow(TerminalError);
    await expect(refused).rejects.toThrow(text);
    await expect(refused).rejects.toThrow('hard link "link"');
  });
});

describe('refused', () => {
  it('a device', async () => {
    await expect(applyEntries({ name: 'a/tty', type: 'CharacterDevice' })).rejects.toThrow(
      new TerminalError('"a/tty" is a device or special file'),
    );
  });

  it.each(['../x', '/x', 'a/../../x', 'a/..', 'etc/../../x', '..'])('the name %s', async (name) => {
    await expect(applyEntries({ name, content: 'x' })).rejects.toThrow(
      `archive has an entry that leaves the bundle: ${JSON.stringify(name)}`,
    );
  });

  it('a thousandfold bomb, in every compression', async () => {
    const bomb = Buffer.alloc(80 * 1024 * 1024);
    for (const rawLayer of [gzipSync(bomb), zstdCompressSync(bomb)]) {
      await expect(apply([{ rawLayer }])).rejects.toThrow('--max-content-compression-ratio');
    }
  });

  it('more than a limit in all layers together', async () => {
    const limits = { ...defaultLimits, maxBytes: 1000, maxEntries: 10 };
    const large = (name: string): LayerContent => ({ files: { [name]: 'x'.repeat(600) } });
    expect((await apply([large('a')], limits)).files).toHaveProperty('a');
    await expect(apply([large('a'), large('a')], limits)).rejects.toThrow(
      new TerminalError(
        'the image unpacks to more than the limit of 1000 bytes (--max-content-bytes)',
      ),
    );
    const many = (prefix: string): LayerContent => ({
      files: Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${prefix}${i}`, ''])),
    });
    await expect(apply([many('a'), many('b')], limits)).rejects.toThrow(
      new TerminalError('the image has more than 10 entries (--max-content-entries)'),
    );
  });

  it('many copies of a large file by hard links', async () => {
    const links = Array.from({ length: 50 }, (_, i): TarEntry => {
      return { name: `l${i}`, type: 'Link', linkpath: 'a' };
    });
    const tarEntries = [{ name: 'a', content: Buffer.alloc(2 * 1024 * 1024, 'x y') }, ...links];
    await expect(apply([{ tarEntries, compression: 'none' }])).rejects.toThrow(
      'the image unpacks to more than the limit',
    );
  });

  it('more entries than the limit, and as many directories in few', {
    tags: ['slow'],
  }, async () => {
    const tarEntries = Array.from({ length: defaultLimits.maxEntries + 1 }, (_, i) => ({
      name: `f${i}`,
    }));
    await expect(apply([{ tarEntries, compression: 'none' }])).rejects.toThrow(
      '--max-content-entries',
    );
    const deep = Array.from({ length: 120 }, (_, i) => ({ name: `${'d/'.repeat(200)}${i}/x` }));
    const other = deep.map(({ name }, i) => ({ name: `${i}/${name}` }));
    await expect(apply([{ tarEntries: other }])).rejects.toThrow('--max-content-entries');
  });

  it.each([
    ['nothing at all', Buffer.alloc(0), 'unexpected EOF'],
    ['garbage', Buffer.alloc(2000, 'garbage'), 'archive/tar: invalid tar header'],
    ['a truncated gzip', gzipSync(Buffer.alloc(4096)).subarray(0, 20), 'unexpected EOF'],
  ])('%s', async (_, rawLayer, text) => {
    await expect(apply([{ rawLayer }])).rejects.toThrow(new TerminalError(text));
  });
});
