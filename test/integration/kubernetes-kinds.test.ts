import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

const folder = join(import.meta.dirname, '../../deploy/openapi');

test('what validate knows of Kubernetes’ own kinds is what the pinned API server says', async () => {
  const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  const document = await kubectl.must(['get', '--raw', '/openapi/v2']);
  const compact = spawn(process.execPath, [join(folder, 'compact.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  compact.stdin.end(document);
  const kept = await readFile(join(folder, 'kubernetes-1.36.json'), 'utf8');
  expect(await text(compact.stdout)).toBe(kept);
});
