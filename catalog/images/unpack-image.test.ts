import { existsSync } from 'node:fs';
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TerminalError } from '../../core/errors.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../core/registry/index.ts';
import type { TarEntry } from '../../deploy/release/tar-archive.ts';
import { FakeRegistry } from '../../test/helpers/fake-registry.ts';
import type { LayerContent } from '../../test/helpers/layer-archive.ts';
import { type UnpackImageOptions, unpackImage } from './index.ts';

const { signal } = new AbortController();
let dir = '';
let registry: FakeRegistry;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'unpack-'));
  registry = await FakeRegistry.start();
});

afterEach(async () => {
  await registry.stop();
  await rm(dir, { recursive: true });
});

async function unpack(
  layers: readonly LayerContent[],
  options: Omit<UnpackImageOptions, 'signal'> = {},
): Promise<void> {
  await registry.addImage('v1', layers);
  const access = new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const image = await access.open(`${registry.host}/app:v1`, signal);
  await unpackImage(image, join(dir, 'out'), { signal, ...options });
}

async function names(): Promise<readonly string[]> {
  return (await readdir(join(dir, 'out'), { recursive: true })).toSorted();
}

describe('unpackImage', () => {
  it.each([
    ['new', []],
    ['empty', ['out']],
  ])('leaves a directory that is %s as it was where it fails', async (_case, before) => {
    for (const name of before) await mkdir(join(dir, name));
    const upper = { files: { 'a/1': 'above' } };
    const failing = { tarEntries: [{ name: 'b' }, { name: '../x' }] };
    await expect(unpack([failing, upper])).rejects.toThrow('leaves the bundle');
    expect(await readdir(dir, { recursive: true })).toEqual(before);
    await unpack([upper]);
    expect(await names()).toEqual(['a', 'a/1']);
    expect(await readdir(dir)).toEqual(['out']);
  });

  it('has its directory only once it is whole: it may be killed at any time', async () => {
    const seen: boolean[] = [];
    registry.intercept = ({ url = '' }) => {
      if (url.includes('/blobs/')) seen.push(existsSync(join(dir, 'out')));
      return false;
    };
    await unpack([{ files: { a: 'below' } }, { files: { b: 'above' } }]);
    expect(seen).toEqual([false, false, false]);
    expect(await names()).toEqual(['a', 'b']);
  });

  it('replaces nothing that somebody writes into its directory meanwhile', async () => {
    await mkdir(join(dir, 'out'));
    let blobs = 0;
    registry.intercept = async ({ url = '' }) => {
      if (url.includes('/blobs/')) blobs += 1;
      // The first one is the configuration.
      if (blobs === 2) await writeFile(join(dir, 'out/a'), 'mine');
      return false;
    };
    await expect(unpack([{ files: { a: 'theirs' } }])).rejects.toThrow('out is not empty');
    expect(await names()).toEqual(['a']);
    expect(await readFile(join(dir, 'out/a'), 'utf8')).toBe('mine');
  });

  it('lays layers over one another, with their whiteouts', async () => {
    await unpack([
      { files: { 'a/1': 'below', 'a/2': 'below', 'b/1': 'below', 'c/x': 'below', d: 'below' } },
      {
        files: { 'a/1': 'above', 'a/.wh.2': '', 'b/.wh..wh..opq': '', 'b/2': 'above', c: 'above' },
      },
      { files: { 'd/1': 'top', e: 'top' } },
    ]);
    expect(await names()).toEqual(['a', 'a/1', 'b', 'b/2', 'c', 'd', 'd/1', 'e']);
    expect(await readFile(join(dir, 'out/a/1'), 'utf8')).toBe('above');
  });

  it('has nothing of a folder below a file that a later folder replaces', async () => {
    const link = { name: 'b', type: 'SymbolicLink', linkpath: 'a' } as const;
    await unpack([
      { files: { 'a/old': 'below', 'b/old': 'below', 'c/old': 'below' } },
      { tarEntries: [{ name: 'a', content: 'file' }, link] },
      { files: { 'a/new': 'above', 'b/new': 'above', 'c/new': 'above' } },
    ]);
    expect(await names()).toEqual(['a', 'a/new', 'b', 'b/new', 'c', 'c/new', 'c/old']);
  });

  it('takes only a part of it', async () => {
    await unpack([{ files: { 'bin/opm': 'x', 'configs/a.yaml': 'a', 'configs-2/b': 'b' } }], {
      only: '/configs',
    });
    expect(await names()).toEqual(['configs', 'configs/a.yaml']);
  });

  // With time that grows with the square of the length, this takes hours.
  it('takes no longer for a path of a million slashes, which a label may name', async () => {
    const only = `/configs${'/'.repeat(1_000_000)}x`;
    await unpack([{ files: { 'configs/a.yaml': 'a' } }], { only });
    expect(await names()).toEqual([]);
  });

  it('keeps links within the image, and writes nothing through them', async () => {
    await unpack([
      {
        tarEntries: [
          { name: 'a', type: 'SymbolicLink', linkpath: '/b' },
          { name: 'c', type: 'SymbolicLink', linkpath: 'b' },
          { name: 'c/file', content: 'x' },
        ],
      },
    ]);
    expect(await readlink(join(dir, 'out/a'))).toBe('b');
    expect(await names()).toEqual(['a', 'c', 'c/file']);
  });

  it('gives links nothing outside of the image through other links', async () => {
    await writeFile(join(dir, 'secret'), 'token');
    const up = '.up/'.repeat(9);
    await unpack([
      {
        tarEntries: [
          { name: 'm/.up', type: 'SymbolicLink', linkpath: '.' },
          { name: 'm/file', type: 'SymbolicLink', linkpath: '.up/.up/../../secret' },
          { name: 'm/far', type: 'SymbolicLink', linkpath: `${up}${'../'.repeat(9)}m/../secret` },
          { name: 'folder', type: 'SymbolicLink', linkpath: 'm/.up/.up/../..' },
          { name: 'root', type: 'SymbolicLink', linkpath: '/' },
        ],
      },
    ]);
    const root = await realpath(join(dir, 'out'));
    for (const name of ['m/.up', 'm/file', 'm/far', 'folder', 'root']) {
      const found = await realpath(join(root, name)).catch(() => root);
      expect(`${found}/`.startsWith(`${root}/`), `${name} is ${found}`).toBe(true);
    }
    expect(await readlink(join(root, 'm/far'))).toBe('../m/secret');
  });

  it('puts no link in the place of a folder of the links above it', async () => {
    const link = { name: 'a/b/up', type: 'SymbolicLink', linkpath: '../../secret' } as const;
    const moved = { name: 'a', type: 'SymbolicLink', linkpath: 'x/y' } as const;
    await unpack([{ tarEntries: [moved] }, { tarEntries: [link] }]);
    expect(await realpath(join(dir, 'out/a/b'))).toBe((await realpath(join(dir, 'out/a'))) + '/b');
    await rm(join(dir, 'out'), { recursive: true });
    await expect(unpack([{ tarEntries: [link, moved] }])).rejects.toThrow(
      'both a file and a directory',
    );
  });

  it.each([
    ['a path that leaves it', { name: '../x' }, 'leaves the bundle'],
    [
      'a link out of it',
      { name: 'a', type: 'SymbolicLink', linkpath: '../../etc' },
      'points outside',
    ],
    ['a device', { name: 'a', type: 'CharacterDevice' }, 'device or special file'],
  ] as const)('refuses %s', async (_case, entry, problem) => {
    await expect(unpack([{ tarEntries: [entry] }])).rejects.toThrow(problem);
  });

  const link = (name: string, linkpath: string): TarEntry => ({
    name,
    type: 'SymbolicLink',
    linkpath,
  });

  it('writes links to files as hard ones where there may be no symlinks', async () => {
    const tarEntries = [
      link('a', 'c/./b/../b'),
      link('c', '/d'),
      { name: 'd/b', content: 'x' },
      link('d/e', '../a'),
      link('e', 'd/nothing'),
      { name: 'e', content: 'y' },
      link('f', 'd/b'),
      { name: 'f/g', content: 'z' },
    ];
    await expect(unpack([{ tarEntries }], { links: 'hard' })).rejects.toThrow(
      /^symlink "c" leads to no file of the catalog: "\/d"$/,
    );
    const only = tarEntries.filter(({ name }) => name !== 'c' && name !== 'a');
    await unpack([{ tarEntries: [...only, link('a', 'd/b')] }], { links: 'hard' });
    expect(await names()).toEqual(['a', 'd', 'd/b', 'd/e', 'e', 'f', 'f/g']);
    expect(await readFile(join(dir, 'out/d/e'), 'utf8')).toBe('x');
    expect((await lstat(join(dir, 'out/d/e'))).isFile()).toBe(true);
  });

  it.each<readonly [string, readonly TarEntry[], RegExp]>([
    [
      'a long name',
      [{ name: 'n'.repeat(256) }],
      /the image cannot be unpacked: open "n+": file name too long$/,
    ],
    [
      'a long path',
      [{ name: `${'dir/'.repeat(1020)}a.yaml` }],
      /the image cannot be unpacked: \w+ "[dir/]+": file name too long$/,
    ],
    [
      'a file in the place of a folder',
      [{ name: 'a/b' }, { name: 'a' }],
      /the layer has both a file and a directory at "a"$/,
    ],
    ['a link to nothing', [link('a', 'b')], /^symlink "a" leads to no file of the catalog: "\/b"$/],
    ['a link below a file', [link('a', 'b/c'), { name: 'b' }], /^symlink "a" leads to no file/],
    [
      'a link with a NUL',
      [link('a', `b\0${'c'.repeat(300)}`)],
      /symlink "a" has a target that no link can have: "b\\u0000c+"$/,
    ],
    ['links in a circle', [link('a', 'b'), link('b', 'a')], /^symlink "a" leads to no file/],
    [
      'a link with a long target',
      [link('a', 'b/'.repeat(2048))],
      /symlink "a" has a target that no link can have: "[b/]+"$/,
    ],
  ])(
    'tells that the image is to blame for %s',
    { tags: ['slow'] },
    async (_case, tarEntries, message) => {
      const error: unknown = await unpack([{ tarEntries }], { links: 'hard' }).catch(
        (e: unknown) => e,
      );
      expect(error).toBeInstanceOf(TerminalError);
      expect((error as Error).message).toMatch(message);
    },
  );

  it('refuses what unpacks to too much', async () => {
    const files = { big: Buffer.alloc(3_000_000) };
    await expect(unpack([{ files }], { maxBytes: 1_000_000 })).rejects.toThrow(
      /^layer sha256:[0-9a-f]{64}: archive unpacks to more than the limit of 1000000 bytes/,
    );
  });

  it('refuses layers that together unpack to too much', async () => {
    const layers = ['a', 'b', 'c'].map((name) => ({ files: { [name]: Buffer.alloc(400_000) } }));
    await expect(unpack(layers, { maxBytes: 1_000_000 })).rejects.toThrow(
      /^layer sha256:[0-9a-f]{64}: the image unpacks to more than the limit of 1000000 bytes$/,
    );
  });

  it.each([
    ['directories', 'd', '/'],
    ['empty files', 'f', ''],
    ['folders of one path', 'a/'.repeat(150), 'f'],
  ])('counts the blocks of the disk that %s take', { tags: ['slow'] }, async (_, name, end) => {
    const many = (layer: string) =>
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`${name}${layer}${i}${end}`, '']));
    const layers = ['x', 'y'].map((layer) => ({ files: many(layer) }));
    await expect(unpack(layers, { maxBytes: 1_000_000 })).rejects.toThrow(
      /^layer sha256:[0-9a-f]{64}: the image unpacks to more than the limit of 1000000 bytes$/,
    );
    await expect(unpack(layers, { maxBytes: 2_000_000 })).resolves.toBeUndefined();
  });

  it.each(['gzip', 'zstd'] as const)(
    'refuses a bomb of %s',
    { tags: ['slow'] },
    async (compression) => {
      const bomb = { files: { zeros: Buffer.alloc(50_000_000) }, compression };
      await expect(unpack([bomb])).rejects.toThrow('times its compressed size');
    },
  );
});
