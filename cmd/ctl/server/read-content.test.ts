import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packBundle } from '../../../core/content/index.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import { listArchive, listingLine } from './read-content.ts';

const { signal } = new AbortController();

describe('listArchive', () => {
  it('prints what tar would print, one line per entry', async () => {
    const archive = packBundle(aTree({ 'manifests/a.yaml': 'kind: A\n', 'README.md': '' }));
    const entries = await listArchive(archive, signal);
    expect(entries.map(listingLine)).toEqual([
      'drwxr-xr-x 0/0         0 1970-01-01 00:00:00 .',
      '-rw-r--r-- 0/0         0 1970-01-01 00:00:00 README.md',
      'drwxr-xr-x 0/0         0 1970-01-01 00:00:00 manifests',
      '-rw-r--r-- 0/0         8 1970-01-01 00:00:00 manifests/a.yaml',
    ]);
    expect(entries[3]).toEqual({
      path: 'manifests/a.yaml',
      mode: '-rw-r--r--',
      uid: 0,
      gid: 0,
      size: 8,
      modified: '1970-01-01T00:00:00.000Z',
    });
  });

  it('keeps each entry on its line, whatever its name does to a terminal', () => {
    const path = 'manifests/a\n-rw-r--r-- 0/0 0 safe\u001b[2J';
    const entry = {
      path,
      mode: '-rw-r--r--',
      uid: 0,
      gid: 0,
      size: 1,
      modified: '2026-01-02T03:04:05Z',
    };
    expect(listingLine(entry)).toBe(
      '-rw-r--r-- 0/0         1 2026-01-02 03:04:05 manifests/a\\x0a-rw-r--r-- 0/0 0 safe\\x1b[2J',
    );
  });

  it.each([
    ['what is no archive', Buffer.from('<html>not found</html>'.repeat(100))],
    ['an archive that is cut off', gzipSync(Buffer.alloc(5000, 1)).subarray(0, 20)],
  ])('refuses %s', async (_what, bytes) => {
    await expect(listArchive(Readable.from([bytes]), signal)).rejects.toThrow();
  });
});
