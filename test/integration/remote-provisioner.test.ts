import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '../../deploy/local/cluster/ports.ts';
import { eventually } from '../helpers/eventually.ts';

/** The server of docs/howto/provisioner-over-http.md, tried as the page says. */
const root = join(import.meta.dirname, '../..');
let folder: string;
let server: ChildProcess;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-python-'));
  [port = 0] = await freePorts(1, []);
  const program = join(root, 'deploy/samples/provisioner-over-http/server.py');
  server = spawn('python3', [program, String(port)], { stdio: 'ignore' });
  await eventually(async () => {
    expect((await fetch(`http://127.0.0.1:${port}/v1/class`)).status).toBe(200);
  });
});

afterAll(async () => {
  const ended = once(server, 'exit');
  server.kill();
  await ended;
  await rm(folder, { recursive: true, force: true });
});

/** As the page has it, but for what an installed package has elsewhere. */
async function scriptOfPage(): Promise<string> {
  const page = await readFile(join(root, 'docs/howto/provisioner-over-http.md'), 'utf8');
  const [, script = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  const module = (path: string): string => pathToFileURL(join(root, path)).href;
  return script
    .replace('rukpak-ts/manager', module('core/run-manager.ts'))
    .replace('rukpak-ts/testing', module('testing/index.ts'))
    .replace(':9000', `:${port}`);
}

test('it passes the suite that every class has to pass', async () => {
  const script = join(folder, 'class.test.mjs');
  await writeFile(script, await scriptOfPage());
  const run = promisify(execFile)(process.execPath, ['--test', '--test-reporter=spec', script], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  expect(stdout).toContain('acme-template: deployment "a template" is handled');
  expect(stdout).toMatch(/^ℹ tests [1-9]/m);
  expect(stdout, stdout).toMatch(/^ℹ fail 0$/m);
});
