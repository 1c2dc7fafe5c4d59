import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { runProgram } from '../program.ts';

let api: FakeApiServer;
/** Its current context is another cluster than that of `api`, which is context `mine`. */
let kubeconfig: string;
let server: string;

beforeAll(async () => {
  api = await FakeApiServer.start();
  const { clusters, users } = JSON.parse(await readFile(api.kubeconfig, 'utf8'));
  server = clusters[0].cluster.server;
  kubeconfig = `${api.kubeconfig}-of-two`;
  const prod = { name: 'prod', cluster: { server: 'http://127.0.0.1:9' } };
  const config = {
    clusters: [...clusters, prod],
    users,
    contexts: [
      { name: 'live', context: { cluster: 'prod', user: 'u' } },
      { name: 'mine', context: { cluster: 'c', user: 'u' } },
    ],
    'current-context': 'live',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
});

beforeEach(() => {
  api.reset();
  api.serve(bundleDeploymentResource);
});

afterAll(async () => {
  await rm(kubeconfig);
  await api.stop();
});

async function rukpak(...args: readonly string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const code = await runProgram([...args, `--kubeconfig=${kubeconfig}`], {
    stopSignal: () => new AbortController().signal,
    createLogger: () => silentLogger,
    print: (line) => void lines.push(line),
    printError: (line) => void errors.push(line),
  });
  return { code, lines, errors };
}

describe.each([
  [['uninstall', '--dry-run'], 'uninstalling from'],
  [['install'], 'installing on'],
])('rukpak %s', (args, begin) => {
  test('acts on the cluster of --context, and names it first', async () => {
    const { lines } = await rukpak(...args, '--context=mine');
    expect(lines[0]).toBe(`${begin} cluster "c" (${server}), context "mine" of ${kubeconfig}`);
    expect(api.requests).not.toEqual([]);
  });

  test('names that of the current context, also when it is not reachable', async () => {
    const { code, lines } = await rukpak(...args);
    expect(code).toBe(1);
    expect(lines).toEqual([
      `${begin} cluster "prod" (http://127.0.0.1:9), context "live" of ${kubeconfig}`,
    ]);
    expect(api.requests).toEqual([]);
  });

  test.each(['', 'mien'])('asks no cluster with --context=%s', async (context) => {
    const { code, lines, errors } = await rukpak(...args, `--context=${context}`);
    expect([code, lines, api.requests]).toEqual([1, [], []]);
    expect(errors[0]).toContain(`rukpak: kubeconfig ${kubeconfig} has no `);
  });
});
