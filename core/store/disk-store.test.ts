import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BundleFilesBuilder, defaultLimits } from '../content/index.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { ContentKey } from '../contracts/store.ts';
import { TerminalError } from '../errors.ts';
import { collectGarbage, DiskStore } from './disk-store.ts';
import { FileKept } from './temporary-files.ts';

let directory: string;
let reports: unknown[];

beforeEach(async () => {
  reports = [];
  directory = await mkdtemp(join(tmpdir(), 'disk-store-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

function newStore(limits = defaultLimits): DiskStore {
  const onLeftover = (report: unknown): void => void reports.push(report);
  const externalAddress = 'https://content.example/';
  return new DiskStore({ directory, externalAddress, limits, onLeftover });
}

function content(text: string): BundleFiles {
  const builder = new BundleFilesBuilder(defaultLimits);
  builder.addFile('manifests/a.yaml', Buffer.from(text));
  builder.addDirectory('empty');
  return builder.build();
}

async function loadedText(store: DiskStore, key: { name: string; uid: string }): Promise<string> {
  const files = await store.load(key);
  return Buffer.from(files?.files.get('manifests/a.yaml') ?? []).toString();
}

const key = { name: 'my-bundle.v1', uid: '0f3a-11' };

describe('DiskStore', () => {
  it('returns stored content, also to a later process', async () => {
    await newStore().put(key, content('hello'));
    const store = newStore();
    expect(await store.has(key)).toBe(true);
    const loaded = await store.load(key);
    expect([...(loaded?.files.keys() ?? [])]).toEqual(['manifests/a.yaml']);
    expect([...(loaded?.directories ?? [])]).toEqual(['empty', 'manifests']);
    expect(await loadedText(store, key)).toBe('hello');
    expect(await readdir(directory)).toEqual(['my-bundle.v1.tgz']);
  });

  it('gives back content that it compressed better than its source may, and as much as there may be', async () => {
    const store = newStore({ ...defaultLimits, maxEntries: 2 });
    const builder = new BundleFilesBuilder(defaultLimits);
    builder.addFile('manifests/a.yaml', Buffer.alloc(4 * 1024 * 1024, 'a'));
    await store.put(key, builder.build());
    expect((await loadedText(store, key)).length).toBe(4 * 1024 * 1024);
  });

  it('has nothing for unknown names', async () => {
    const store = newStore();
    expect(await store.has(key)).toBe(false);
    expect(await store.load(key)).toBeUndefined();
    await expect(store.delete(key)).resolves.toBeUndefined();
  });

  it("keeps a predecessor's content from a namesake", async () => {
    const store = newStore();
    await store.put(key, content('old'));
    const namesake = { ...key, uid: '0f3a-1' };
    expect(await store.has(namesake)).toBe(false);
    expect(await store.load(namesake)).toBeUndefined();
    await store.put(namesake, content('new'));
    expect(await loadedText(store, namesake)).toBe('new');
    expect(await store.has(key)).toBe(false);
  });

  it('does not take archives that others left for its own', async () => {
    await writeFile(join(directory, `${key.name}.tgz`), 'something else');
    await mkdir(join(directory, 'folder.tgz'));
    const store = newStore();
    expect(await store.has(key)).toBe(false);
    expect(await store.load(key)).toBeUndefined();
    await store.put(key, content('ours'));
    expect(await loadedText(store, key)).toBe('ours');
    const aside = join(directory, 'aside', `${key.name}.tgz`);
    expect(await readFile(aside, 'utf8')).toBe('something else');
    expect(reports).toEqual([
      new FileKept(
        `a file that core did not write had the name of an archive: it is now "${aside}". Move it to another directory, or delete it`,
      ),
    ]);
  });

  it('keeps each file of others that it sets aside', async () => {
    const path = join(directory, `${key.name}.tgz`);
    for (const text of ['one', 'two']) {
      await writeFile(path, text);
      await newStore().put(key, content('ours'));
    }
    const aside = join(directory, 'aside');
    const texts = (await readdir(aside)).map((file) => readFile(join(aside, file), 'utf8'));
    expect((await Promise.all(texts)).sort()).toEqual(['one', 'two']);
  });

  it('deletes and moves the content of its own UID alone', async () => {
    const store = newStore();
    const earlier = { ...key, uid: 'earlier' };
    await store.put(key, content('new'));
    await store.delete(earlier);
    const other = new DiskStore({
      directory: join(directory, 'other'),
      externalAddress: '',
      limits: defaultLimits,
    });
    await store.move(earlier, other);
    expect(await loadedText(store, key)).toBe('new');
    expect((await other.list()).stored).toEqual([]);
  });

  it('deletes no content that is stored at the same moment', async () => {
    const store = newStore();
    for (let round = 0; round < 20; round += 1) {
      const earlier = { ...key, uid: `${round}` };
      const later = { ...key, uid: `${round + 1}` };
      await store.put(earlier, content('old'));
      await Promise.all([store.put(later, content('new')), store.delete(earlier)]);
      expect(await loadedText(store, later)).toBe('new');
    }
  });

  it('replaces no archive of a later Bundle by one of a Bundle that was deleted meanwhile', async () => {
    const earlier = { ...key, uid: 'earlier' };
    const later = { ...key, uid: 'later' };
    let current = earlier;
    const isCurrent = ({ uid }: ContentKey): boolean => uid === current.uid;
    const limits = defaultLimits;
    const store = new DiskStore({ directory, externalAddress: '', limits, isCurrent });
    const slow = randomBytes(500_000).toString('base64');
    // When it begins, its Bundle exists.
    const deleted = store.put(earlier, content(slow)).catch((error: unknown) => error);
    current = later;
    await Promise.all([store.put(later, content('new')), deleted]);
    expect(await loadedText(store, later)).toBe('new');
    await expect(store.put(earlier, content('old'))).rejects.toThrow(
      `Bundle "${key.name}" was deleted while its content was being stored`,
    );
    expect(await loadedText(store, later)).toBe('new');
    expect(await readdir(directory)).toEqual([`${key.name}.tgz`]);
  });

  it('stores content of a Bundle that was deleted meanwhile where there is no other: it may be installed', async () => {
    const limits = defaultLimits;
    const isCurrent = (): boolean => false;
    const store = new DiskStore({ directory, externalAddress: '', limits, isCurrent });
    for (const text of ['one', 'two']) await store.put(key, content(text));
    expect(await loadedText(store, key)).toBe('two');
  });

  it('has content of its pin alone, and archives that have none are of any', async () => {
    const store = newStore();
    const [one, two] = [
      { ...key, pin: 'sha256:one' },
      { ...key, pin: 'p'.repeat(2_000) },
    ];
    for (const pinned of [one, two]) {
      await store.put(pinned, content(pinned.pin));
      for (const each of [one, two]) expect(await store.has(each)).toBe(each === pinned);
      expect(await loadedText(store, pinned)).toBe(pinned.pin);
      expect(await loadedText(store, key)).toBe(pinned.pin);
    }
    expect(await store.load(one)).toBeUndefined();
    const lower = newStore({ ...defaultLimits, maxBytes: 100 });
    await expect(lower.load(two)).rejects.toThrow('--max-content-bytes');
    // As an earlier version writes it.
    await store.put(key, content('any'));
    expect(await loadedText(store, one)).toBe('any');
  });

  it('replaces and deletes', async () => {
    const store = newStore();
    await store.put(key, content('one'));
    await store.put(key, content('two'));
    expect(await loadedText(store, key)).toBe('two');
    await store.delete(key);
    expect(await store.has(key)).toBe(false);
    expect(await readdir(directory)).toEqual([]);
  });

  it('stores archives that other tools can read', async () => {
    const store = newStore();
    await store.put({ name: 'odd', uid: 'ü/\0 x' }, content('hello'));
    expect(await store.has({ name: 'odd', uid: 'ü/\0 x' })).toBe(true);
    const tar = gunzipSync(await readFile(join(directory, 'odd.tgz')));
    expect(tar.toString('latin1', 0, 100).replace(/\0+$/, '')).toBe('.');
    expect(tar.includes('hello')).toBe(true);
  });

  it('lets concurrent puts of one name end in one whole archive', async () => {
    const store = newStore();
    const texts = Array.from({ length: 10 }, (_, i) => `${i}`.repeat(100_000));
    const readers = texts.map(async () => await loadedText(store, key));
    await Promise.all(texts.map(async (text) => await store.put(key, content(text))));
    for (const text of await Promise.all(readers)) expect(['', ...texts]).toContain(text);
    expect(texts).toContain(await loadedText(store, key));
    expect(await readdir(directory)).toEqual([`${key.name}.tgz`]);
  });

  it('leaves nothing behind when a put fails', async () => {
    const store = newStore();
    await store.put(key, content('good'));
    const broken = new Map([['a', null as unknown as Uint8Array]]);
    const failed = store.put(key, { files: broken, directories: new Set() });
    await expect(failed).rejects.toThrow(TypeError);
    expect(await readdir(directory)).toEqual([`${key.name}.tgz`]);
    expect(await loadedText(store, key)).toBe('good');
  });

  it('drops a damaged archive, so that it is fetched again', async () => {
    const store = newStore();
    await store.put(key, content('x'.repeat(5000)));
    const path = join(directory, `${key.name}.tgz`);
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, -20));
    expect(await store.has(key)).toBe(true);
    expect(await store.load(key)).toBeUndefined();
    expect(await store.has(key)).toBe(false);
  });

  it.each([
    ['--max-content-bytes', { maxBytes: 100 }],
    ['--max-content-entries', { maxEntries: 1 }],
  ])('keeps a whole archive that is over a lowered limit: %s', async (flag, lower) => {
    await newStore().put(key, content('x'.repeat(5000)));
    const store = newStore({ ...defaultLimits, ...lower });
    await expect(store.load(key)).rejects.toThrow(TerminalError);
    await expect(store.load(key)).rejects.toThrow(flag);
    expect(await store.has(key)).toBe(true);
    expect(await loadedText(newStore(), key)).toBe('x'.repeat(5000));
  });

  it('sets a damaged archive without a digest aside: an earlier version wrote it', async () => {
    const store = newStore();
    await store.put(key, content('hello'));
    const path = join(directory, `${key.name}.tgz`);
    const whole = await readFile(path, 'latin1');
    await writeFile(path, whole.replace(/&sha256=[0-9a-f]{64}/, '').slice(0, -20), 'latin1');
    expect(await store.load(key)).toBeUndefined();
    expect(await readdir(join(directory, 'aside'))).toEqual([`${key.name}.tgz`]);
  });

  it.each(['../evil', 'a/b', '', '.hidden', '..', 'UPPER', 'a\0b', 'x'.repeat(252), 'a_b', '-a'])(
    'stores, and has, nothing under the name %j',
    async (name) => {
      const store = newStore();
      await expect(store.put({ name, uid: '1' }, content(''))).rejects.toThrow(TerminalError);
      expect(await store.has({ name, uid: '1' })).toBe(false);
      expect(await store.load({ name, uid: '1' })).toBeUndefined();
      await expect(store.delete({ name, uid: '1' })).resolves.toBeUndefined();
      expect(await readdir(directory)).toEqual([]);
    },
  );

  it('takes the longest name that fits', async () => {
    const longest = { name: 'x'.repeat(251), uid: '1' };
    const store = newStore();
    await store.put(longest, content('long'));
    expect(await loadedText(store, longest)).toBe('long');
  });

  it('names the URL under which the content server serves it', () => {
    expect(newStore().contentURL('b')).toBe('https://content.example/bundles/b.tgz');
  });

  it('removes incomplete files of earlier processes, no newer ones, and none of others', async () => {
    const old = `.${randomUUID()}.tmp`;
    const running = `.${randomUUID()}.tmp`;
    for (const file of [old, running, '.mine.tmp']) await writeFile(join(directory, file), 'half');
    for (const file of [old, '.mine.tmp']) await utimes(join(directory, file), 1000, 1000);
    newStore();
    expect((await readdir(directory)).sort()).toEqual([running, '.mine.tmp'].sort());
  });

  it('lists the archives that it stores, and those of others', async () => {
    const store = newStore();
    const other = { name: 'other', uid: '1' };
    await store.put(key, content(''));
    await store.put(other, content(''));
    await writeFile(join(directory, 'README'), '');
    await writeFile(join(directory, 'mine.tgz'), 'something else');
    await mkdir(join(directory, 'folder.tgz'));
    const { stored, foreign } = await store.list();
    expect(stored).toHaveLength(2);
    expect(stored).toEqual(expect.arrayContaining([key, other]));
    expect(foreign).toEqual([join(directory, 'mine.tgz')]);
  });

  it('holds old or new content, whole, when the process is killed in a put', {
    tags: ['process'],
  }, async () => {
    const texts = [1, 2].map(() => randomBytes(2_000_000).toString('base64'));
    const script = join(directory, 'writer.ts');
    await writeFile(script, writer);
    await writeFile(join(directory, 'texts.json'), JSON.stringify({ directory, key, texts }));
    await newStore().put(key, content(texts[0]!));
    for (const delay of [0, 5, 15, 40, 80]) {
      const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      await Promise.race([once(child.stdout, 'data'), ended]);
      expect(child.exitCode).toBeNull();
      await new Promise((resolve) => setTimeout(resolve, delay));
      child.kill('SIGKILL');
      await ended;
      expect(texts.includes(await loadedText(newStore(), key))).toBe(true);
    }
  });
});

/** Replaces the content again and again until it is killed. */
const writer = `
  import { readFileSync } from 'node:fs';
  import { DiskStore } from ${JSON.stringify(new URL('disk-store.ts', import.meta.url).href)};
  import { defaultLimits } from ${JSON.stringify(new URL('../content/bundle-files-builder.ts', import.meta.url).href)};
  const { directory, key, texts } = JSON.parse(
    readFileSync(new URL('texts.json', import.meta.url), 'utf8'),
  );
  const store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits });
  const contents = texts.map((text) => ({
    files: new Map([['manifests/a.yaml', Buffer.from(text)]]),
    directories: new Set(['manifests']),
  }));
  console.log('writing');
  for (;;) for (const files of contents) await store.put(key, files);
`;

class FakeStore {
  readonly archives = new Set(['live', 'gone', 'gone-too']);
  async list() {
    return { stored: [...this.archives].map((name) => ({ name, uid: '1' })), foreign: [] };
  }
  async delete({ name }: ContentKey): Promise<void> {
    this.archives.delete(name);
  }
}

function fail(error: unknown): never {
  throw error;
}

it('removes the archives of Bundles that are gone, and only those', async () => {
  const store = new FakeStore();
  await collectGarbage(store, () => ['live', 'unstored'], fail);
  expect([...store.archives]).toEqual(['live']);
});

it('removes no files that others wrote, whatever their names, and says so once', async () => {
  const store = newStore();
  await store.put({ name: 'gone', uid: '1' }, content(''));
  const files = ['mine.tgz', `demo.${randomUUID()}.tgz`];
  for (const file of files) await writeFile(join(directory, file), gzipSync('theirs'));
  await collectGarbage(
    store,
    () => [],
    (report) => void reports.push(report),
  );
  expect((await readdir(directory)).sort()).toEqual(files.sort());
  expect(reports).toHaveLength(1);
  expect(reports[0]).toBeInstanceOf(FileKept);
  expect(String(reports[0])).toContain(join(directory, 'mine.tgz'));
});

it('leaves alone what is stored while it asks for the live Bundles', async () => {
  const store = new FakeStore();
  const live = () => {
    store.archives.add('newborn');
    return [];
  };
  await collectGarbage(store, live, fail);
  expect([...store.archives]).toEqual(['newborn']);
});
