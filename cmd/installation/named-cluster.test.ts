import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { type TwoContexts, twoContexts } from '../../test/helpers/two-contexts.ts';
import { runProgram } from '../program.ts';

let api: FakeApiServer;
let two: TwoContexts;
let kubeconfig: string;
let server: string;

beforeAll(async () => {
  api = await FakeApiServer.start();
  two = await twoContexts(api);
  ({ kubeconfig, server } = two);
});

beforeEach(() => {
  api.reset();
  api.serve(bundleDeploymentResource);
});

afterAll(async () => {
  await two[Symbol.asyncDispose]();
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

test.each(['core', 'webhooks', 'crdvalidator', 'operators', 'all'])(
  'rukpak %s asks no cluster with an unknown --context',
  async (command) => {
    const { code, errors } = await rukpak(command, '--context=mien');
    expect([code, api.requests]).toEqual([1, []]);
    expect(errors).toEqual([`rukpak: kubeconfig ${kubeconfig} has no context "mien"`]);
  },
);
