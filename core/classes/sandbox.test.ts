// @module-tag process

import { rm } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { defaultLimits } from '../content/index.ts';
import { runInWorkers } from './run-in-workers.ts';

/** Tries what a hole in a parser would be used for, and says what came of it. */
const prying = `
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

function outcome(attempt) {
  try { attempt(); return 'done'; } catch (error) { return error.code ?? error.message; }
}

export default {
  className: 'prying',
  deployment: async () => [{
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'found' },
    data: {
      token: outcome(() => readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token')),
      others: outcome(() => readFileSync('/proc/' + process.ppid + '/environ')),
      home: outcome(() => readdirSync('/root')),
      write: outcome(() => writeFileSync('/tmp/rukpak-sandbox', 'x')),
      process: outcome(() => spawnSync('/bin/true')),
      thread: outcome(() => new Worker('0', { eval: true })),
      signal: outcome(() => process.kill(process.ppid, 0)),
      folder: process.cwd(),
      environment: Object.keys(process.env).join(),
    },
  }],
};`;

const denied = 'ERR_ACCESS_DENIED';

async function pry(sandboxed: boolean): Promise<unknown> {
  vi.stubEnv('RUKPAK_SANDBOX_SECRET', 'hunter2');
  vi.stubEnv('NODE_V8_COVERAGE', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const module = new URL(`data:text/javascript,${encodeURIComponent(prying)}`);
  const workers = await runInWorkers({
    modules: [module],
    sandboxed,
    memory: ampleMemory(),
    logger: silentLogger,
  });
  onTestFinished(() => workers.close());
  const [{ deployment } = {}] = workers.provisioners;
  const { signal } = new AbortController();
  const context = { signal, logger: silentLogger, limits: defaultLimits, inputs: [] };
  const files = { files: new Map(), directories: new Set<string>() };
  const object = { apiVersion: 'v1', kind: 'BundleDeployment', metadata: { name: 'a' }, spec: {} };
  const [found] = (await deployment?.(files, object as never, context)) ?? [];
  return found?.['data'];
}

test('code in a sandbox reads no file of others, writes none, starts nothing and knows no secret', async () => {
  const found = (await pry(true)) as Record<string, string>;
  expect(found).toMatchObject({
    token: denied,
    others: denied,
    home: denied,
    write: denied,
    process: denied,
    thread: denied,
    signal: 'a class may not signal other processes',
    folder: '/',
  });
  expect(found['environment']?.split(',')).not.toContain('RUKPAK_SANDBOX_SECRET');
});

test('code of whoever runs the manager is not held back', async () => {
  onTestFinished(() => rm('/tmp/rukpak-sandbox', { force: true }));
  const found = (await pry(false)) as Record<string, string>;
  expect(found).toMatchObject({ process: 'done', signal: 'done' });
  expect(found['environment']?.split(',')).toContain('RUKPAK_SANDBOX_SECRET');
});
