import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { spawnRukpakctl } from '../../../test/helpers/rukpakctl.ts';

test('catalog serve ends when it cannot listen for gRPC', { tags: 'process' }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'catalog-serve-'));
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  let process: ChildProcess | undefined;
  onTestFinished(async () => {
    process?.kill('SIGKILL');
    other.close();
    await rm(directory, { recursive: true });
  });
  await writeFile(join(directory, 'catalog.json'), '{"schema":"acme"}');
  const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  const { code, stderr } = await spawnRukpakctl(
    ['catalog', 'serve', directory, '--address=127.0.0.1:0', `--grpc-address=${taken}`],
    {
      onStart: (child) => {
        process = child;
      },
    },
  );
  expect(code).toBe(1);
  expect(stderr).toContain(
    `failed to listen: listen EADDRINUSE: address already in use ${taken}\n`,
  );
});
