// @module-tag process

import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openSources } from '../../core/manager/index.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { aBundle, aContext, aSourceContext, bundleFiles } from '../../testing/index.ts';
import { runBuiltInProvisioners } from './served-classes.ts';

let started: ChildProcess[];

beforeEach(() => {
  started = [];
  const note = (message: unknown): void => {
    started.push((message as { process: ChildProcess }).process);
  };
  subscribe('child_process', note);
  onTestFinished(() => void unsubscribe('child_process', note));
  vi.stubEnv('RUKPAK_TEST_SECRET', 'hunter2');
  onTestFinished(() => void vi.unstubAllEnvs());
});

function expectSandboxed(): void {
  for (const { spawnargs } of started) expect(spawnargs).toContain('--permission');
}

test('built-in classes read content in a sandbox, however small where nothing is read here', async () => {
  const builtIn = await runBuiltInProvisioners({
    memory: ampleMemory(),
    here: false,
    logger: silentLogger,
  });
  onTestFinished(() => builtIn.close());
  const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
  const content = bundleFiles({ 'manifests/a.yaml': manifest });
  for (const { className, bundle } of builtIn.provisioners) {
    await bundle?.(content, aBundle({ className }), aContext()).catch(() => undefined);
  }
  // One for charts, and one for the other classes.
  expect(started).toHaveLength(2);
  expectSandboxed();
});

test('git is fetched in a sandbox', async () => {
  const sources = await openSources({
    workers: 1,
    memory: ampleMemory(),
    sourceAddresses: { allow: ['127.0.0.1'] },
    logger: silentLogger,
  });
  onTestFinished(() => sources.close());
  const git = sources.sources.find(({ type }) => type === 'git');
  const source = { type: 'git', git: { repository: 'http://127.0.0.1:1/a', ref: { branch: 'b' } } };
  await expect(git?.fetch(source as never, aSourceContext())).rejects.toThrow('connection refused');
  expect(started).toHaveLength(1);
  expectSandboxed();
});
