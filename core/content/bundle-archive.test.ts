import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { Header } from 'tar';
import { describe, expect, it } from 'vitest';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import { TerminalError } from '../errors.ts';
import { packBundle } from './bundle-archive.ts';
import { BundleFilesBuilder, defaultLimits } from './bundle-files-builder.ts';
import { readTar } from './tar-reader.ts';
import { unpackBundle } from './unpack-bundle.ts';

const options = { limits: defaultLimits, signal: new AbortController().signal };

async function packed(files: BundleFiles): Promise<Buffer> {
  return await buffer(packBundle(files));
}

async function unpack(archive: Buffer): Promise<BundleFiles> {
  return await unpackBundle(Readable.from([archive]), options);
}

function plain({ files, directories }: BundleFiles): unknown {
  return {
    files: [...files].map(([path, content]) => [path, Buffer.from(content).toString('base64')]),
    directories: [...directories],
  };
}

const part = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter((name) => !/[/\0\ud800-\udfff]/u.test(name) && name !== '.' && name !== '..');
const tree = fc
  .array(
    fc.record({
      path: fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/')),
      content: fc.option(fc.uint8Array({ maxLength: 1500 })),
    }),
    { maxLength: 12 },
  )
  .map((entries) => {
    const builder = new BundleFilesBuilder(defaultLimits);
    for (const { path, content } of entries) {
      try {
        if (content === null) builder.addDirectory(path);
        else builder.addFile(path, content);
      } catch {
        // A file and a directory of one name: the builder keeps the first.
      }
    }
    return builder.build();
  });

describe('packBundle and unpackBundle', () => {
  it('give back every tree as it was, in equal bytes each time', { tags: ['slow'] }, async () => {
    await fc.assert(
      fc.asyncProperty(tree, async (files) => {
        const archive = await packed(files);
        expect(plain(await unpack(archive))).toEqual(plain(files));
        expect((await packed(files)).equals(archive)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('write the stored layout', async () => {
    const builder = new BundleFilesBuilder(defaultLimits);
    builder.addFile('manifests/b.yaml', Buffer.from('b'));
    builder.addFile('manifests/a.yaml', Buffer.from('a'));
    builder.addDirectory('empty');
    const tar = gunzipSync(await packed(builder.build()));
    const entries: string[] = [];
    await readTar(Readable.from([tar]), {
      ...options,
      onEntry: ({ type, path }) => void entries.push(`${type} ${path}`),
    });
    expect(entries).toEqual([
      'directory .',
      'directory empty',
      'directory manifests',
      'file manifests/a.yaml',
      'file manifests/b.yaml',
    ]);
    const header = new Header(tar, 0);
    expect(header).toMatchObject({ uid: 0, gid: 0, uname: '', gname: '', mtime: new Date(0) });
  });

  it.each([
    ['SymbolicLink', 'a symlink'],
    ['Link', 'a hardlink'],
    ['BlockDevice', 'a device or special file'],
  ] as const)('refuse a %s', async (type, what) => {
    const block = Buffer.alloc(512);
    new Header({ path: 'etc/x', type, linkpath: 'y', size: 0 }).encode(block);
    const refused = unpack(gzipSync(Buffer.concat([block, Buffer.alloc(1024)])));
    await expect(refused).rejects.toThrow(TerminalError);
    await expect(refused).rejects.toThrow(`archive entry "etc/x" is ${what}`);
  });

  it('refuse a file that is also a directory, and too much of anything', async () => {
    const file = Buffer.alloc(512);
    new Header({ path: 'a', type: 'File', size: 0 }).encode(file);
    const below = Buffer.alloc(512);
    new Header({ path: 'a/b', type: 'File', size: 0 }).encode(below);
    await expect(unpack(gzipSync(Buffer.concat([file, below])))).rejects.toThrow(
      'both a file and a directory at "a"',
    );
    const limits = { ...defaultLimits, maxEntries: 1 };
    await expect(
      unpackBundle(Readable.from([gzipSync(below)]), { ...options, limits }),
    ).rejects.toThrow('more than 1 entries');
  });
});
