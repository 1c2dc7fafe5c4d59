import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { plane } from '../helpers/plane.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const root = join(import.meta.dirname, '../..');
const older =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.0.0"}})';

test('a signal to the program on an older Node reaches the one that it starts', async () => {
  await installCrds(plane.kubeconfig);
  const storage = await mkdtemp(join(tmpdir(), 'rukpak-older-node-'));
  const [content, health] = await workerPorts(2);
  const flags = [
    `--http-bind-address=127.0.0.1:${content}`,
    `--http-external-address=http://127.0.0.1:${content}`,
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--provisioner-storage-dir=${join(storage, 'bundles')}`,
    `--upload-storage-dir=${join(storage, 'uploads')}`,
  ];
  const child = spawn(process.execPath, ['--import', older, 'bin/rukpak', 'core', ...flags], {
    cwd: root,
    env: { ...process.env, KUBECONFIG: plane.kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, to end both where the signal does not reach the second.
    detached: true,
  });
  const closed = once(child, 'close');
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (log += text));
  }
  onTestFinished(async () => {
    if (child.pid !== undefined && !child.stdout.closed) process.kill(-child.pid);
    await rm(storage, { recursive: true, force: true });
  });
  await eventually(() => expect(log).toContain('"msg":"starting"'));
  child.kill('SIGTERM');
  // Its pipes close when both have ended.
  expect(await closed).toEqual([0, null]);
});
