import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { type CtlResult, rukpakctl } from '../../test/helpers/rukpakctl.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';

const escape = '\u001b';
const activeBundle = `web-${'b'.repeat(40)}`;
const message = `the registry does not answer; ${escape}[2J it is tried again until it does`;

let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
  const type = 'HasValidBundle';
  const lastTransitionTime = '2030-01-01T00:00:00Z';
  const state = { status: 'False', reason: 'UnpackPending', message, lastTransitionTime } as const;
  const status = { observedGeneration: 1, activeBundle, conditions: [{ type, ...state }] };
  api.put(bundleDeploymentResource, aStoredDeployment({ name: 'web', status }));
});

afterAll(async () => {
  await api.stop();
});

async function status(
  options: { readonly columns?: number; readonly env?: Readonly<Record<string, string>> },
  ...args: readonly string[]
): Promise<CtlResult> {
  const env = { KUBECONFIG: api.kubeconfig, TERM: 'xterm', NO_COLOR: '', ...options.env };
  return await rukpakctl(['status', ...args], { ...options, env });
}

test('a file has every word, and no escape sequence', async () => {
  const { stdout } = await status({});
  expect(stdout).toContain(activeBundle);
  expect(stdout).toContain('until it does');
  expect(stdout).not.toContain(escape);
});

test('a terminal has colours, and rows that fit it', async () => {
  const { stdout } = await status({ columns: 80 });
  expect(stdout).toContain(`${escape}[31mNotInstalled${escape}[39m`);
  const lines = stripVTControlCharacters(stdout).trimEnd().split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines[1]).toMatch(/^web +NotInstalled +web-b+…b+ +UnpackPending: the .*…$/);
});

test('what strangers wrote gives no colour and no order', async () => {
  const { stdout } = await status({ columns: 400 });
  expect(stdout).toContain('\\x1b[2J it is tried');
});

test('NO_COLOR is honoured, and so is a terminal that has none', async () => {
  expect((await status({ columns: 80, env: { NO_COLOR: '1' } })).stdout).not.toContain(escape);
  expect((await status({ columns: 80, env: { TERM: 'dumb' } })).stdout).not.toContain(escape);
});

test('wide shortens nothing', async () => {
  expect((await status({ columns: 80 }, '-o', 'wide')).stdout).toContain(activeBundle);
});
