// @module-tag process

import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ampleMemory } from '../../../test/helpers/ample-memory.ts';
import { type PackServer, servePack } from '../../../test/helpers/pack-server.ts';
import {
  aChain,
  aCommitOf,
  aDelta,
  aPack,
  distance,
  objectId,
} from '../../../test/helpers/packs.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aSourceContext } from '../../../test/helpers/source-context.ts';
import { fetchInWorkers, type WorkerSource } from '../../classes/index.ts';
import type { SourceResult } from '../../contracts/source.ts';
import type { ByteBudget } from '../../platform/runtime/index.ts';
import { gitType } from './git-type.ts';

const mebibyte = 1024 * 1024;
const module = new URL('./git-source.ts', import.meta.url);

let memory: ByteBudget;
let source: WorkerSource;
let server: PackServer | undefined;

beforeEach(() => {
  memory = ampleMemory();
  source = fetchInWorkers({ module, source: gitType, size: 1, memory, logger: silentLogger });
});

afterEach(async () => {
  await source.close();
  await server?.[Symbol.asyncDispose]();
});

/** As core does it, in a process of its own. */
async function fetchFrom(pack: Buffer, commit: string): Promise<SourceResult> {
  server = await servePack(pack, commit);
  const git = { repository: server.url, ref: { branch: 'main' } };
  return await source.fetch({ type: 'git', git }, aSourceContext());
}

test('a delta that makes its own base takes neither memory nor time', async () => {
  const text = Buffer.from('a');
  const id = objectId('blob', text);
  const { tree, commit, id: commitId } = aCommitOf([id]);
  const pack = aPack([
    { type: 'blob', content: text },
    { type: 'referenceDelta', base: Buffer.from(id, 'hex'), content: aDelta(1) },
    { type: 'tree', content: tree },
    { type: 'commit', content: commit },
  ]);
  expect(pack.byteLength).toBeLessThan(240);
  const { files } = await fetchFrom(pack, commitId);
  expect(files.files.get('0.bin')).toEqual(Uint8Array.from(text));
});

test('a delta that is its own base is refused', async () => {
  const { tree, commit, id } = aCommitOf([objectId('blob', Buffer.from('a'))]);
  const pack = aPack([
    { type: 'offsetDelta', base: distance(0), content: aDelta(5) },
    { type: 'tree', content: tree },
    { type: 'commit', content: commit },
  ]);
  await expect(fetchFrom(pack, id)).rejects.toThrow(/the server sent a broken pack: no object /);
});

test('a chain of deltas takes the memory of a few, not of all', async () => {
  const base = randomBytes(10 * mebibyte);
  const { pack, commit } = aChain({ base, deltas: 60, named: 'by offset' });
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, memory.taken)), 20);
  try {
    const { files } = await fetchFrom(pack, commit);
    expect(files.files.get('0.bin')?.byteLength).toBe(10 * mebibyte + 60);
  } finally {
    clearInterval(timer);
  }
  expect(most / mebibyte).toBeGreaterThan(20);
  expect(most / mebibyte).toBeLessThan(450);
});
