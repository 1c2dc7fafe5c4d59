// @module-tag process
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { DevManager } from './dev-manager.ts';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a class that never returns ends with the manager that has to be killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rukpak-dev-manager-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const module = join(folder, 'class.ts');
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(module, 'console.log(`loops in ${process.pid}.`);\nfor (;;) {}\n');
  const looping = Promise.withResolvers<number>();
  const say = (line: string): void => {
    const [, pid] = /loops in (\d+)\./.exec(line) ?? [];
    if (pid !== undefined) looping.resolve(Number(pid));
  };
  const cluster = { dir: folder, kubeconfig: join(folder, 'none'), registry: '127.0.0.1:1' };
  const manager = await DevManager.create({ cluster, module, say });
  const stop = new AbortController();
  const started = manager.start(stop.signal);
  const pid = await looping.promise;
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  await manager.stop();
  stop.abort();
  await started;
  await eventually(() => expect(isAlive(pid)).toBe(false));
});
