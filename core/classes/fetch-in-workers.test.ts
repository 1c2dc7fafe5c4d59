// @module-tag process
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { aSourceContext } from '../../test/helpers/source-context.ts';
import { sourceTypes } from '../../test/helpers/source-types.ts';
import type { SecretContent, SourceType } from '../contracts/source.ts';
import { TerminalError, WaitingError } from '../errors.ts';
import { fetchInWorkers, type WorkerSource } from './fetch-in-workers.ts';

const errorsModule = new URL('../errors.ts', import.meta.url).href;

/** What it does is told by the repository. */
const module = `
import { TerminalError, WaitingError } from '${errorsModule}';

const behaviours = {
  content: (source) => ({
    files: { files: new Map([['a', Buffer.from('text')]]), directories: new Set(['d']) },
    resolvedSource: { ...source, git: { ...source.git, ref: { commit: 'c' } } },
  }),
  secret: async (_, { secrets, signal }) => {
    const secret = await secrets.read('named', signal);
    const other = await secrets.read('other', signal);
    const files = new Map([['password', secret.data.get('password')]]);
    return { files: { files, directories: new Set() }, resolvedSource: { type: String(other) } };
  },
  settings: (_, { settings: { greeting } }) => ({
    files: { files: new Map([['a', Buffer.from(greeting)]]), directories: new Set() },
    resolvedSource: { type: 'git' },
  }),
  terminal: () => { throw new TerminalError('bad commit'); },
  waiting: () => { throw new WaitingError('not yet'); },
  loop: () => { for (;;); },
};
export default (settings) => ({
  type: 'git',
  fetch: async (source, context) =>
    await behaviours[source.git.repository](source, { ...context, settings }),
});
`;

let directory: string;
let git: WorkerSource;
const clock = new ManualClock();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'source-workers-'));
  const file = join(directory, 'git.mjs');
  await writeFile(file, module);
  const options = {
    module: pathToFileURL(file),
    source: sourceTypes.get('git') as SourceType,
    size: 2,
    settings: { greeting: 'hello' },
    memory: ampleMemory(),
    clock,
  };
  git = fetchInWorkers({ ...options, logger: silentLogger });
});

afterAll(async () => {
  await git.close();
  await rm(directory, { recursive: true });
});

const named: SecretContent = {
  type: 'Opaque',
  data: new Map([['password', Buffer.from('pass\0word')]]),
};

function fetch(repository: string, signal = new AbortController().signal) {
  const auth = { secret: { name: 'named' } };
  const source: BundleSource = { type: 'git', git: { repository, ref: { branch: 'main' }, auth } };
  const secrets = { read: async (name: string) => (name === 'named' ? named : undefined) };
  return git.fetch(source, aSourceContext({ signal, secrets }));
}

describe('a source in worker processes', () => {
  test('gives back the content and what it was resolved to', async () => {
    const { files, resolvedSource } = await fetch('content');
    expect(Buffer.from(files.files.get('a') ?? []).toString()).toBe('text');
    expect([...files.directories]).toEqual(['d']);
    expect(resolvedSource.git).toMatchObject({ repository: 'content', ref: { commit: 'c' } });
  });

  test('sees the Secrets that its spec names, and no others', async () => {
    const { files, resolvedSource } = await fetch('secret');
    expect(Buffer.from(files.files.get('password') ?? []).toString()).toBe('pass\0word');
    expect(resolvedSource.type).toBe('undefined');
  });

  test('is made from its settings', async () => {
    const { files } = await fetch('settings');
    expect(Buffer.from(files.files.get('a') ?? []).toString()).toBe('hello');
  });

  test('throws what it throws', async () => {
    await expect(fetch('terminal')).rejects.toThrow(new TerminalError('bad commit'));
    await expect(fetch('waiting')).rejects.toBeInstanceOf(WaitingError);
  });

  test('never holds up this process, and is ended when the time is over', async () => {
    const stop = new AbortController();
    const fetching = fetch('loop', stop.signal);
    await expect(fetch('content')).resolves.toBeDefined();
    stop.abort(new Error('time is over'));
    // What an aborted fetch has left to answer.
    clock.advance(1_000);
    await expect(fetching).rejects.toThrow('time is over');
    await expect(fetch('content')).resolves.toBeDefined();
  });
});
