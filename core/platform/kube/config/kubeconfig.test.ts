import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os, { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CredentialSource } from './credentials.ts';
import { homeFolder, loadKubeconfig } from './kubeconfig.ts';

const run = promisify(execFile);

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  vi.stubEnv('HOME', folder);
  vi.stubEnv('KUBECONFIG', '');
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function aFile(name: string, fields: object = {}): Promise<string> {
  const path = join(folder, name);
  const config = {
    clusters: [{ name: 'c', cluster: { server: `https://${name}.example.com` } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...fields,
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

function serverOf(options: { kubeconfig?: string; context?: string } = {}): string | undefined {
  return loadKubeconfig(options).cluster.server;
}

describe('loadKubeconfig', () => {
  test('takes the named file, then KUBECONFIG', async () => {
    vi.stubEnv('KUBECONFIG', await aFile('env'));
    expect(serverOf({ kubeconfig: await aFile('flag') })).toBe('https://flag.example.com');
    expect(serverOf()).toBe('https://env.example.com');
  });

  test('merges the files of KUBECONFIG, the first wins, absent ones are skipped', async () => {
    const other = { name: 'd', cluster: { server: 'https://other.example.com' } };
    const files = [
      join(folder, 'absent'),
      await aFile('first'),
      await aFile('second', {
        clusters: [{ name: 'c', cluster: { server: 'https://late.example.com' } }, other],
        contexts: [{ name: 'y', context: { cluster: 'd', user: 'u' } }],
      }),
    ];
    vi.stubEnv('KUBECONFIG', files.join(delimiter));
    expect(serverOf()).toBe('https://first.example.com');
    expect(serverOf({ context: 'y' })).toBe('https://other.example.com');
  });

  test('minds a context that names no cluster only where it is the one', async () => {
    const named = { name: 'x', context: { cluster: 'c', user: 'u' } };
    const begun = { name: 'y', context: { cluster: '', namespace: 'n', user: '' } };
    const kubeconfig = await aFile('begun', { contexts: [begun, named] });
    expect(serverOf({ kubeconfig })).toBe('https://begun.example.com');
    expect(() => serverOf({ kubeconfig, context: 'y' })).toThrow(
      'context "y" names cluster "", which is absent',
    );
  });

  test('names the remedy when no kubeconfig exists', () => {
    expect(() => loadKubeconfig()).toThrow('no cluster to talk to: set KUBECONFIG');
  });

  test('names the file that is absent or broken', async () => {
    const absent = join(folder, 'absent');
    expect(() => loadKubeconfig({ kubeconfig: absent })).toThrow(
      `cannot use kubeconfig ${absent}: ENOENT`,
    );
    const broken = join(folder, 'broken');
    for (const text of ['', '{', 'just text', '[]', 'clusters: [{}]']) {
      await writeFile(broken, text);
      expect(() => loadKubeconfig({ kubeconfig: broken })).toThrow(broken);
    }
  });

  test('does not quote the file, which holds keys', async () => {
    const broken = join(folder, 'broken');
    await writeFile(broken, 'users:\n- user:\n    token: s3cret\n  x: y\n z: [');
    let error: unknown;
    try {
      loadKubeconfig({ kubeconfig: broken });
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error)).not.toContain('s3cret');
  });

  test.each([
    ['', 'it has no fields'],
    ['clusters: [{name: c}]', 'clusters[0].cluster is missing'],
    ['clusters: [{name: c, cluster: {server: ""}}]', 'clusters[0].cluster.server is missing'],
    ['users: [{user: {token: t}}]', 'users[0].name is missing'],
    ['contexts: [{context: {user: u}}]', 'contexts[0].name is missing'],
    ['users: me', 'users is not of the type that it has to be'],
  ])('says which field of %j is wrong', async (text, problem) => {
    const path = join(folder, 'wrong');
    await writeFile(path, text);
    expect(() => loadKubeconfig({ kubeconfig: path })).toThrow(
      `cannot use kubeconfig ${path}: ${problem}`,
    );
  });

  test('fields that are empty are as if they were not there', async () => {
    const path = join(folder, 'sparse');
    await writeFile(
      path,
      `
clusters: [{name: c, cluster: {server: "https://a/", proxy-url: "", certificate-authority: null}}]
users: [{name: u, user: {exec: null, token: "", tokenFile: "", username: me, password: 12}}, {name: n, user: }]
contexts: [{name: x, context: {cluster: c, user: u, namespace: }}]
current-context: x
preferences: {}
`,
    );
    const { cluster, user } = loadKubeconfig({ kubeconfig: path });
    expect(cluster).toEqual({ name: 'c', server: 'https://a', skipTLSVerify: false });
    expect(user).toMatchObject({ token: undefined, tokenFile: undefined, password: '12' });
  });

  test.each([
    [{ 'current-context': undefined }, 'has no current-context'],
    [{ contexts: [] }, 'has no context "x"'],
    [{ clusters: [] }, 'names cluster "c", which is absent'],
    [{ users: [] }, 'names user "u", which is absent'],
    [{ clusters: [{ name: 'c', cluster: { server: 'ftp://a' } }] }, 'not an http or https URL'],
    [{ clusters: [{ name: 'c', cluster: { server: '\u0000' } }] }, 'server "\\u0000" is not'],
    [{ 'current-context': 'a\u007f\n' }, 'has no context "a\\u007f\\n"'],
  ])('explains %j', async (fields, message) => {
    const kubeconfig = await aFile('bad', fields);
    expect(() => loadKubeconfig({ kubeconfig })).toThrow(message);
    expect(() => loadKubeconfig({ kubeconfig })).toThrow(kubeconfig);
  });
});

describe('CredentialSource', () => {
  test('serves a context without a user and a server without TLS', async () => {
    const kubeconfig = await aFile('proxy', {
      clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:8001' } }],
      contexts: [{ name: 'x', context: { cluster: 'c' } }],
    });
    const { headers } = await new CredentialSource(loadKubeconfig({ kubeconfig })).current();
    expect(headers).toEqual({});
  });

  test('reads tokens, passwords, certificates and the way to verify the server', async () => {
    await writeFile(join(folder, 'ca.pem'), 'CA');
    const kubeconfig = await aFile('tls', {
      clusters: [
        {
          name: 'c',
          cluster: {
            server: 'https://a',
            'certificate-authority': 'ca.pem',
            'tls-server-name': 'b',
            'insecure-skip-tls-verify': true,
          },
        },
      ],
      users: [
        { name: 'u', user: { username: 'me', password: 'pw', 'client-key-data': btoa('K') } },
      ],
    });
    const credentials = await new CredentialSource(loadKubeconfig({ kubeconfig })).current();
    expect(credentials).toEqual({
      headers: { authorization: `Basic ${btoa('me:pw')}` },
      tls: {
        ca: Buffer.from('CA'),
        key: Buffer.from('K'),
        servername: 'b',
        rejectUnauthorized: false,
      },
    });
  });

  test.each([
    ['relative', {}],
    ['and wins over a token', { token: 'old' }],
  ])('reads the token in a file: %s', async (_, more) => {
    await writeFile(join(folder, 'token'), 'from-file\n');
    const users = [
      { name: 'other', user: { token: 'other' } },
      { name: 'u', user: { tokenFile: 'token', ...more } },
    ];
    const kubeconfig = await aFile('token-file', { users });
    const source = new CredentialSource(loadKubeconfig({ kubeconfig }));
    expect((await source.current()).headers).toEqual({ authorization: 'Bearer from-file' });
  });

  test('an entry without credentials does not hide the others', async () => {
    const users = [{ name: 'nobody' }, { name: 'u', user: { tokenFile: 'token' } }];
    await writeFile(join(folder, 'token'), 't');
    const kubeconfig = await aFile('empty-user', { users });
    const source = new CredentialSource(loadKubeconfig({ kubeconfig }));
    expect((await source.current()).headers).toEqual({ authorization: 'Bearer t' });
  });

  test('the data of a certificate win over its file, and both are read', async () => {
    const user = {
      'client-certificate': 'absent.pem',
      'client-certificate-data': btoa('CERT'),
      'client-key': 'key.pem',
      as: 'somebody',
    };
    await writeFile(join(folder, 'key.pem'), 'KEY');
    const kubeconfig = await aFile('certificate', { users: [{ name: 'u', user }] });
    expect(await new CredentialSource(loadKubeconfig({ kubeconfig })).current()).toEqual({
      headers: { 'impersonate-user': 'somebody' },
      tls: { cert: Buffer.from('CERT'), key: Buffer.from('KEY') },
    });
  });

  test('the user that the file, or the caller, acts as brings its groups', async () => {
    const user = { token: 't', as: 'jane', 'as-groups': ['dev', 'ops'] };
    const kubeconfig = await aFile('groups', { users: [{ name: 'u', user }] });
    const headersOf = async (options: object) =>
      (await new CredentialSource(loadKubeconfig({ kubeconfig, ...options })).current()).headers;
    expect(await headersOf({})).toEqual({
      authorization: 'Bearer t',
      'impersonate-user': 'jane',
      'impersonate-group': ['dev', 'ops'],
    });
    // Nobody gets the groups of somebody else.
    expect(await headersOf({ as: 'joe' })).toEqual({
      authorization: 'Bearer t',
      'impersonate-user': 'joe',
    });
  });

  test('runs an exec plug-in once for concurrent requests, and again after a failure', {
    tags: ['process'],
  }, async () => {
    const counter = join(folder, 'count');
    const script = `echo x >> ${counter}; test -e ${counter}.ok || exit 1; echo '{"status":{"token":"t"}}'`;
    const kubeconfig = await aFile('exec', {
      users: [{ name: 'u', user: { exec: { command: 'sh', args: ['-c', script] } } }],
    });
    const source = new CredentialSource(loadKubeconfig({ kubeconfig }));
    const failed = await Promise.allSettled([source.current(), source.current()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await writeFile(`${counter}.ok`, '');
    expect((await source.current()).headers).toEqual({ authorization: 'Bearer t' });
    expect(await readFile(counter, 'utf8')).toBe('x\nx\n');
  });
});

test('an exec plug-in that waits for its user is not run a second time meanwhile', {
  tags: ['process'],
}, async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => void vi.restoreAllMocks());
  const counter = join(folder, 'count');
  const script = `echo x >> ${counter}; echo '{"status":{"token":"t"}}'`;
  const user = { exec: { command: 'sh', args: ['-c', script] } };
  const users = [{ name: 'waiting', user }];
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'waiting' } }];
  const kubeconfig = await aFile('waiting', { users, contexts });
  const source = new CredentialSource(loadKubeconfig({ kubeconfig }));
  const asked = [source.current()];
  now += 60_000;
  asked.push(source.current());
  await Promise.all(asked);
  expect(await readFile(counter, 'utf8')).toBe('x\n');
});

test('nothing of what the manager uses loads the library, which takes as much memory again', {
  tags: ['process'],
}, async () => {
  const kubeconfig = await aFile('plain');
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (url.includes('@kubernetes/client-node')) throw new Error('loaded: ' + url);
        return next(url, context);
      },
    });
    await import(${JSON.stringify(new URL('../../../run-manager.ts', import.meta.url))});
    const { loadKubeconfig } = await import(${JSON.stringify(new URL('./kubeconfig.ts', import.meta.url))});
    const { CredentialSource } = await import(${JSON.stringify(new URL('./credentials.ts', import.meta.url))});
    const source = new CredentialSource(loadKubeconfig({ kubeconfig: process.argv[1] }));
    console.log(JSON.stringify((await source.current()).headers));
  `;
  const args = ['--input-type=module', '--eval', script, kubeconfig];
  const { stdout } = await run(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual({ authorization: 'Bearer secret' });
});

describe('the home folder', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    syncBuiltinESMExports();
  });

  test('is HOME', () => {
    vi.stubEnv('HOME', '/home/someone');
    expect(homeFolder()).toBe('/home/someone');
  });

  test('is the root for a user that the machine does not know', () => {
    vi.spyOn(os, 'homedir').mockImplementation(() => {
      throw new Error('uv_os_homedir returned ENOENT');
    });
    syncBuiltinESMExports();
    expect(homeFolder()).toBe('/');
  });
});
