import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

/** The servers of docs/howto/provisioner-over-http.md, tried as the page says. */
const root = join(import.meta.dirname, '../..');
const program = join(root, 'deploy/samples/provisioner-over-http/server.py');
const servers: ChildProcess[] = [];
let folder: string;
let page: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-python-'));
  page = await readFile(join(root, 'docs/howto/provisioner-over-http.md'), 'utf8');
});

afterAll(async () => {
  for (const server of servers) {
    const ended = once(server, 'exit');
    if (server.kill()) await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

/** Gives the port that it listens at. */
async function start(...[program = '', ...args]: readonly string[]): Promise<number> {
  const [port = 0] = await workerPorts(1);
  servers.push(spawn(program, [...args, String(port)], { stdio: 'ignore' }));
  await eventually(async () => {
    expect((await fetch(`http://127.0.0.1:${port}/v1/class`)).status).toBe(200);
  });
  return port;
}

/** The nth block of the page in that language. */
function block(language: string, index: number): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))];
  return blocks[index]?.[1] ?? expect.fail(`the page has no block ${index} in ${language}`);
}

/** As the page has it, but for what an installed package has elsewhere. */
function scriptOfPage(port: number): string {
  const module = (path: string): string => pathToFileURL(join(root, path)).href;
  return replaced(block('js', 0), {
    'rukpak-ts/manager': module('core/run-manager.ts'),
    'rukpak-ts/testing': module('testing/index.ts'),
    ':9000': `:${port}`,
  });
}

/** With each of the texts, which are there, in the place of the other. */
function replaced(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    expect(result).toContain(from);
    return result.replace(from, () => to);
  }, text);
}

/** What the suite says. */
async function resultsOf(name: string, script: string): Promise<string> {
  const path = join(folder, `${name}.test.mjs`);
  await writeFile(path, script);
  const run = promisify(execFile)(process.execPath, ['--test', '--test-reporter=spec', path], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  expect(stdout).toMatch(/^ℹ tests [1-9]/m);
  expect(stdout, stdout).toMatch(/^ℹ fail 0$/m);
  return stdout;
}

test('it passes the suite that every class has to pass', async () => {
  const results = await resultsOf('class', scriptOfPage(await start('python3', program)));
  expect(results).toContain('acme-template: deployment "a template" is handled');
  expect(results).not.toContain('configure');
});

test('so does the one that adapts content to its deployment', async () => {
  const adapting = join(folder, 'adapting.py');
  const otherwise = '        if self.path == "/v1/bundle":\n';
  const text = replaced(await readFile(program, 'utf8'), {
    '["bundle", "deployment"]': '["bundle", "configure"]',
    [otherwise]: block('python', 1) + otherwise,
  });
  await writeFile(adapting, text);
  const manifest =
    '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}]}';
  const script = replaced(scriptOfPage(await start('python3', adapting)), {
    'deployments: [{': `configured: [{ adapted: { 'manifests/all.json': '${manifest}' },`,
    // Under the limits of the content itself it has to be refused, or to fit.
    'templates/a.json': 'templates/a-config-map.json',
  });
  const results = await resultsOf('adapting', script);
  expect(results).toContain('acme-template: configure "a template" is handled');
  expect(results).toContain('acme-template: configure "a template" stays within the limits');
  expect(results).not.toContain('deployment "a template"');
});

const samples = join(root, 'deploy/samples/provisioner-over-http');

test('so does the one in Go', { tags: ['long'] }, async () => {
  const built = join(folder, 'server-in-go');
  await promisify(execFile)('go', ['build', '-o', built, join(samples, 'server.go')]);
  const results = await resultsOf('go', scriptOfPage(await start(built)));
  expect(results).toContain('acme-template: deployment "a template" stays within the limits');
});

test('so does the one in shell, once for each connection', { tags: ['long'] }, async () => {
  // As socat runs it.
  const listener = createServer((socket) => {
    const child = spawn('bash', [join(samples, 'server.sh')], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
    for (const stream of [socket, child.stdin]) stream.on('error', () => undefined);
  });
  onTestFinished(() => void listener.close());
  const [port = 0] = await workerPorts(1);
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
  const results = await resultsOf('shell', scriptOfPage(port));
  expect(results).toContain('acme-template: deployment "a template" stays within the limits');
});
