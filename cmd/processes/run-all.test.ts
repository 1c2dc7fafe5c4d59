import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { definitionResource } from '../../core/platform/kube/index.ts';
import { operatorKinds } from '../../operators/served-kinds.ts';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { twoContexts } from '../../test/helpers/two-contexts.ts';
import { runProgram } from '../program.ts';

/** Of a server that keeps it until the test has ended. */
async function occupiedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('ends with the sentence of the part that fails, also before webhooks and core run', async () => {
  const unhandled = vi.fn<(error: unknown) => void>();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  const api = await FakeApiServer.start();
  const folder = await mkdtemp(join(tmpdir(), 'run-all-'));
  onTestFinished(async () => {
    await api.stop();
    await rm(folder, { recursive: true });
  });
  await using two = await twoContexts(api);
  api.serve(...operatorKinds, bundleDeploymentResource, bundleResource);
  for (const { plural, group } of operatorKinds) {
    api.put(definitionResource, anObjectOf(definitionResource, `${plural}.${group}`));
  }
  const address = await occupiedAddress();
  const printed: string[] = [];
  const code = await runProgram(
    [
      'all',
      `--kubeconfig=${two.kubeconfig}`,
      '--context=mine',
      `--catalogs-server-addr=${address}`,
      `--cache-dir=${join(folder, 'catalogs')}`,
      `--provisioner-storage-dir=${join(folder, 'bundles')}`,
      `--upload-storage-dir=${join(folder, 'uploads')}`,
      '--http-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
      '--webhook-bind-address=127.0.0.1:0',
    ],
    {
      stopSignal: () => new AbortController().signal,
      createLogger: () => silentLogger,
      print: (line) => void printed.push(line),
      printError: (line) => void printed.push(line),
    },
  );
  expect(unhandled).not.toHaveBeenCalled();
  expect(printed).toEqual([
    expect.stringContaining(`rukpak: cannot listen on ${address}: listen EADDRINUSE`),
  ]);
  expect(code).toBe(1);
});
