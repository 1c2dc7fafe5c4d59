import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { runProgram } from '../program.ts';

let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

afterAll(() => api.stop());

/** `rukpak uninstall --delete-workloads` */
async function uninstallAll(...flags: readonly string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const args = ['uninstall', '--delete-workloads', `--kubeconfig=${api.kubeconfig}`, ...flags];
  const code = await runProgram(args, {
    stopSignal: () => new AbortController().signal,
    createLogger: () => silentLogger,
    print: (line) => void lines.push(line),
    printError: (line) => void errors.push(line),
  });
  return { code, lines, errors };
}

/** Answers the question; without an answer, nobody is at a terminal. */
function terminal(answer?: string): PassThrough {
  const stdin = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  const stderr = new PassThrough();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as unknown as typeof process.stdin);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(stderr as unknown as typeof process.stderr);
  onTestFinished(() => void vi.restoreAllMocks());
  stdin.end(answer);
  return stderr;
}

beforeEach(() => {
  api.reset();
  api.serve(bundleDeploymentResource, bundleResource);
  for (const name of ['web', 'shop']) {
    api.put(bundleDeploymentResource, anObjectOf(bundleDeploymentResource, name));
  }
});

function isThere(): boolean {
  return api.get(bundleDeploymentResource, 'web') !== undefined;
}

test('names the cluster and what is deleted, and deletes nothing without a yes', async () => {
  const stderr = terminal('n\n');
  const { code, lines, errors } = await uninstallAll();
  expect([code, errors]).toEqual([1, ['rukpak: nothing is deleted']]);
  const cluster = lines[0]?.replace('uninstalling from ', '');
  expect(cluster).toContain(`context "x" of ${api.kubeconfig}`);
  expect(String(stderr.read())).toBe(
    `Delete 2 BundleDeployments and everything that they have installed from ${cluster}? [y/N] `,
  );
  expect(isThere()).toBe(true);
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test.each([
  ['a yes', 'y\n', []],
  ['--yes', '', ['--yes']],
  ['no terminal', undefined, []],
])('deletes all with %s', async (_, answer, flags) => {
  terminal(answer);
  expect((await uninstallAll(...flags)).code).toBe(0);
  expect(isThere()).toBe(false);
});

test('asks nothing where there is nothing, nor for a dry run', async () => {
  const stderr = terminal('n\n');
  expect((await uninstallAll('--dry-run')).code).toBe(0);
  api.reset();
  expect((await uninstallAll()).code).toBe(0);
  expect(stderr.read()).toBeNull();
});
