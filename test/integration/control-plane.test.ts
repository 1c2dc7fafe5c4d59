import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';
import { Agent, fetch } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isFree } from '../../deploy/local/cluster/ports.ts';
import { isRunning } from '../../deploy/local/cluster/processes.ts';
import type { ClusterState } from '../../deploy/local/cluster/state.ts';
import { plane } from '../helpers/plane.ts';

const run = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../../deploy/local/cluster.ts', import.meta.url));

async function kubectl(kubeconfig: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(plane.kubectl, [`--kubeconfig=${kubeconfig}`, ...args]);
  return stdout;
}

/** Longer than all that a test waits for, one after another: what waits says what did not come. */
const patience = { timeout: 900_000 };

describe('a cluster that is up', patience, () => {
  const namespace = `control-plane-${process.pid}`;
  const here = (...args: string[]) => kubectl(plane.kubeconfig, `-n=${namespace}`, ...args);

  beforeAll(() => here('create', 'namespace', namespace));
  afterAll(() => here('delete', 'namespace', namespace, '--wait=false'));

  test('a Deployment becomes available and goes with its pods', async () => {
    await here('create', 'deployment', 'web', '--image=example.com/web', '--replicas=3');
    await here('wait', 'deployment/web', '--for=condition=Available', '--timeout=240s');
    expect(await here('get', 'pods', '-o=jsonpath={.items[*].status.phase}')).toBe(
      'Running Running Running',
    );
    await here('delete', 'deployment', 'web', '--cascade=foreground', '--timeout=240s');
    await expect.poll(() => here('get', 'pods', '-o=name'), { timeout: 180_000 }).toBe('');
  });

  test('a Job completes', async () => {
    await here('create', 'job', 'once', '--image=example.com/once');
    await here('wait', 'job/once', '--for=condition=Complete', '--timeout=240s');
  });

  test('service accounts get tokens, and RBAC decides what they may do', async () => {
    await here('create', 'serviceaccount', 'reader');
    await here(
      'create',
      'rolebinding',
      'reader',
      '--clusterrole=view',
      `--serviceaccount=${namespace}:reader`,
    );
    const token = (await here('create', 'token', 'reader')).trim();
    const server = await here('config', 'view', '-o=jsonpath={.clusters[0].cluster.server}');
    const ask = (...args: string[]) =>
      run(plane.kubectl, [
        '--kubeconfig=/dev/null',
        `--server=${server}`,
        `--token=${token}`,
        '--insecure-skip-tls-verify',
        `-n=${namespace}`,
        ...args,
      ]);
    expect((await ask('auth', 'can-i', 'list', 'configmaps')).stdout).toBe('yes\n');
    await expect(ask('create', 'configmap', 'x')).rejects.toThrow('forbidden');
  });

  test('anonymous users may only read its health', async () => {
    const server = await here('config', 'view', '-o=jsonpath={.clusters[0].cluster.server}');
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const status = async (path: string) => (await fetch(`${server}${path}`, { dispatcher })).status;
    expect(await status('/readyz')).toBe(200);
    expect(await status('/api/v1/namespaces')).toBe(403);
    expect(await status('/apis')).toBe(403);
    await dispatcher.close();
  });

  test('an admission webhook on the loopback address is asked', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    });
    const server = createServer({ key, cert }, (request, response) => {
      async function answer(): Promise<void> {
        const { uid } = (JSON.parse(await text(request)) as { request: { uid: string } }).request;
        const review = {
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: { uid, allowed: false, status: { message: 'not on a Saturday' } },
        };
        response.setHeader('content-type', 'application/json').end(JSON.stringify(review));
      }
      void answer();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: namespace },
      webhooks: [
        {
          name: 'saturday.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: {
            url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/validate`,
            caBundle: Buffer.from(cert).toString('base64'),
          },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['configmaps'],
            },
          ],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        },
      ],
    };
    const file = join(await mkdtemp(join(tmpdir(), 'rukpak-webhook-')), 'webhook.json');
    await writeFile(file, JSON.stringify(configuration));
    try {
      await here('create', '-f', file);
      await expect
        .poll(() => here('create', 'configmap', `x${Date.now()}`).catch(String), {
          timeout: 180_000,
        })
        .toContain(
          'admission webhook "saturday.example.com" denied the request: not on a Saturday',
        );
    } finally {
      await here('delete', 'validatingwebhookconfiguration', namespace);
      await rm(join(file, '..'), { recursive: true });
      server.closeAllConnections();
      server.close();
    }
  });

  test('the registry answers', async () => {
    const response = await fetch(`http://${plane.registry}/v2/`);
    expect(response.status).toBe(200);
  });
});

describe('the command', { ...patience, tags: 'long' }, () => {
  let base: string;

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'rukpak-cluster-'));
  });

  afterEach(async () => {
    for (const entry of await readdir(base)) {
      await cluster(['down', '--dir', join(base, entry)]);
    }
    await rm(base, { recursive: true, force: true });
  });

  async function cluster(args: string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...process.env, ...env } });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number]>,
    ]);
    return { stdout, stderr, code };
  }

  async function stateOf(dir: string): Promise<ClusterState> {
    return JSON.parse(await readFile(join(dir, 'cluster.json'), 'utf8')) as ClusterState;
  }

  async function anyRuns({ processes }: ClusterState): Promise<boolean> {
    return (await Promise.all(processes.map(isRunning))).includes(true);
  }

  const field = (output: string, pattern: RegExp) => pattern.exec(output)?.[1] ?? '';

  test('two run side by side, and each goes without a trace', async () => {
    const dirs = [join(base, 'one'), join(base, 'two')];
    const ups = await Promise.all(dirs.map((dir) => cluster(['up', '--dir', dir])));
    const states = await Promise.all(dirs.map(stateOf));
    const servers = new Set<string>();
    for (const [index, { stdout, code, stderr }] of ups.entries()) {
      expect(code, stderr).toBe(0);
      const kubeconfig = field(stdout, /^export KUBECONFIG=(.+)$/m);
      expect(await kubectl(kubeconfig, 'get', 'nodes', '-o=name')).toBe('node/local\n');
      const registry = field(stdout, /^registry: (.+)$/m);
      expect((await fetch(`http://${registry}/v2/`)).status).toBe(200);
      expect(stdout).toContain(`npm run cluster -- down --dir ${dirs[index]}`);
      expect((await stat(kubeconfig)).mode & 0o077).toBe(0);
      servers.add(states[index]!.server).add(registry);
    }
    expect(servers.size).toBe(4);

    const again = await cluster(['up', '--dir', dirs[0]!]);
    expect(again.stderr).toContain(`already up in ${dirs[0]}`);
    expect(again.stdout).toBe(ups[0]!.stdout);

    expect((await cluster(['down', '--dir', dirs[0]!])).code).toBe(0);
    expect(await anyRuns(states[0]!)).toBe(false);
    expect(await readdir(base)).toEqual(['two']);
    expect(states[1]!.processes).toHaveLength(6);
    expect(await Promise.all(states[1]!.processes.map(isRunning))).not.toContain(false);

    expect((await cluster(['down', '--dir', dirs[1]!])).code).toBe(0);
    expect(await anyRuns(states[1]!)).toBe(false);
    expect(await readdir(base)).toEqual([]);
    const nothing = await cluster(['down', '--dir', dirs[1]!]);
    expect(nothing).toMatchObject({ code: 0, stderr: `nothing is up in ${dirs[1]}\n` });
  });

  test('a part that does not start is named with its log, and the others are ended', async () => {
    const assets = join(base, 'assets');
    await mkdir(assets);
    const broken = join(assets, 'kube-scheduler');
    await writeFile(broken, '#!/bin/sh\necho "flag provided but not defined" >&2\nexit 2\n');
    await chmod(broken, 0o755);
    const dir = join(base, 'cluster');
    try {
      const up = await cluster(['up', '--dir', dir], { KUBEBUILDER_ASSETS: assets });
      expect(up.code).toBe(1);
      expect(up.stdout).toBe('');
      expect(up.stderr).toContain('error: kube-scheduler ended right after its start');
      expect(up.stderr).toContain(`its log is ${join(dir, 'logs', 'kube-scheduler.log')}`);
      expect(up.stderr).toContain('flag provided but not defined');
      expect(await anyRuns(await stateOf(dir))).toBe(false);
    } finally {
      await rm(assets, { recursive: true });
    }
  });

  test('an interrupted start leaves no process', async () => {
    const dir = join(base, 'cluster');
    const child = spawn(process.execPath, [COMMAND, 'up', '--dir', dir]);
    for await (const chunk of child.stderr.setEncoding('utf8')) {
      if (String(chunk).includes('starting kube-apiserver')) child.kill('SIGTERM');
    }
    expect(child.exitCode ?? (await once(child, 'close'))[0]).toBe(1);
    const state = await stateOf(dir);
    expect(state.processes.length).toBeGreaterThan(0);
    expect(await anyRuns(state)).toBe(false);
  });

  test('a folder that is no cluster’s is neither used nor removed', async () => {
    const dir = join(base, 'precious');
    await mkdir(dir);
    await writeFile(join(dir, 'file'), '');
    const up = await cluster(['up', '--dir', dir]);
    expect(up).toMatchObject({ code: 1, stdout: '' });
    expect(up.stderr).toContain(
      `${dir} contains files that do not belong to a cluster; name an empty folder`,
    );
    const down = await cluster(['down', '--dir', dir]);
    expect(down.code).toBe(1);
    expect(down.stderr).toContain('nothing was removed');
    expect(await readdir(dir)).toEqual(['file']);
    await rm(dir, { recursive: true });
  });

  test('a port that is in use or invalid is reported', async () => {
    const dir = join(base, 'cluster');
    const server = await kubectl(
      plane.kubeconfig,
      'config',
      'view',
      '-o=jsonpath={.clusters[0].cluster.server}',
    );
    const { port } = new URL(server);
    expect(await isFree(Number(port))).toBe(false);
    const taken = await cluster(['up', '--dir', dir, '--port', port]);
    expect(taken).toMatchObject({ code: 1, stdout: '' });
    expect(taken.stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
    const none = await cluster(['up', '--dir', dir, '--port', '99999']);
    expect(none.stderr).toContain('a port is a number from 1 to 65535');
    expect(await readdir(base)).toEqual([]);
  });
});
