import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TerminalError } from '../../../core/errors.ts';
import { defaultLimits } from '../../../core/sdk.ts';
import { loadDirectory } from './load-content.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rukpakctl-'));
  mkdirSync(join(root, 'manifests/empty'), { recursive: true });
  writeFileSync(join(root, 'manifests/a.yaml'), 'a');
  writeFileSync(join(root, '.hidden'), 'h');
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('loadDirectory', () => {
  it('reads every file and directory', () => {
    const { files, directories } = loadDirectory(root, defaultLimits);
    expect([...files.keys()]).toEqual(['.hidden', 'manifests/a.yaml']);
    expect(Buffer.from(files.get('manifests/a.yaml') ?? '').toString()).toBe('a');
    expect([...directories]).toEqual(['manifests', 'manifests/empty']);
  });

  it.each([
    ['a link out of the tree', () => symlinkSync('/etc/hostname', join(root, 'manifests/x'))],
    ['a link within the tree', () => symlinkSync('a.yaml', join(root, 'manifests/x'))],
    ['a link to itself', () => symlinkSync('.', join(root, 'manifests/x'))],
    ['a pipe', () => execFileSync('mkfifo', [join(root, 'manifests/x')])],
  ])('refuses %s', (_case, make) => {
    make();
    expect(() => loadDirectory(root, defaultLimits)).toThrow(
      `${join(root, 'manifests/x')} is neither a file nor a directory`,
    );
  });

  it('names the path that is not a directory', () => {
    const missing = join(root, 'missing');
    expect(() => loadDirectory(missing, defaultLimits)).toThrow(
      new TerminalError(`open ${missing}: no such file or directory`),
    );
    const file = join(root, '.hidden');
    expect(() => loadDirectory(file, defaultLimits)).toThrow(
      new TerminalError(`${file} is not a directory`),
    );
  });

  it('reads no file over the limit, and no more than the limits in all', () => {
    truncateSync(join(root, '.hidden'), defaultLimits.maxBytes * 1000);
    expect(() => loadDirectory(root, defaultLimits)).toThrow(
      `${join(root, '.hidden')} alone is larger than the limit of ${defaultLimits.maxBytes} bytes (--max-content-bytes of core; rukpakctl uses its default)`,
    );
    truncateSync(join(root, '.hidden'), 2);
    const limitedTo = (limits: object) => () =>
      loadDirectory(root, { ...defaultLimits, ...limits });
    expect(limitedTo({ maxBytes: 2 })).toThrow(
      `${root}: content is larger than the limit of 2 bytes (--max-content-bytes of core; rukpakctl uses its default)`,
    );
    expect(limitedTo({ maxEntries: 3 })).toThrow(
      `${root}: content has more than 3 entries (--max-content-entries of core; rukpakctl uses its default)`,
    );
    expect(limitedTo({ maxDepth: 1 })).toThrow('over the limit of 1 (--max-content-depth of core;');
  });
});
