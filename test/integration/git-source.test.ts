import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GitSource } from '../../api/v1alpha1/bundle.ts';
import { defaultLimits } from '../../core/content/index.ts';
import type { SourceResult } from '../../core/contracts/source.ts';
import { TerminalError } from '../../core/errors.ts';
import { createGitSource } from '../../core/sources/git/git-source.ts';
import { TestRepository } from '../../deploy/local/git/create-repository.ts';
import { type GitServer, startGitServer } from '../../deploy/local/git/git-server.ts';
import { aSourceContext } from '../helpers/source-context.ts';

let root: string;
let server: GitServer;
let guarded: GitServer;
let first: string;
let second: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rukpak-git-'));
  const repository = await TestRepository.create(root, 'combo');
  first = await repository.commit({
    files: { 'manifests/a.yaml': 'first', 'README.md': 'read me' },
    annotatedTag: 'v1.0.0',
    tag: 'light',
  });
  second = await repository.commit({
    files: { 'manifests/a.yaml': 'second', 'dev/deploy/b.yaml': 'b' },
  });
  server = await startGitServer({ root });
  guarded = await startGitServer({ root, credentials: { username: 'me', password: 'pässword' } });
});

afterAll(async () => {
  await server.close();
  await guarded.close();
  await rm(root, { recursive: true, force: true });
});

function fetchGit(git: Partial<GitSource>, context = aSourceContext()): Promise<SourceResult> {
  const spec = { repository: `${server.url}/combo`, ref: { branch: 'main' }, ...git };
  return createGitSource().fetch({ type: 'git', git: spec }, context);
}

function textOf(result: SourceResult): Record<string, string> {
  return Object.fromEntries(
    [...result.files.files].map(([path, bytes]) => [path, Buffer.from(bytes).toString('utf8')]),
  );
}

describe('refs', () => {
  test('a branch is pinned to its head', async () => {
    const result = await fetchGit({});
    expect(textOf(result)).toEqual({ 'dev/deploy/b.yaml': 'b', 'manifests/a.yaml': 'second' });
    expect(result.resolvedSource).toEqual({
      type: 'git',
      git: { repository: `${server.url}/combo`, ref: { commit: second } },
    });
  });

  test.each(['v1.0.0', 'light'])('tag %s resolves to the commit it is about', async (tag) => {
    const result = await fetchGit({ ref: { tag } });
    expect(result.resolvedSource.git?.ref).toEqual({ commit: first });
    expect(textOf(result)['manifests/a.yaml']).toBe('first');
  });

  test('a commit that no ref names is found in the history', async () => {
    const result = await fetchGit({ ref: { commit: first } });
    expect(textOf(result)).toEqual({ 'README.md': 'read me', 'manifests/a.yaml': 'first' });
  });

  test.each([
    [{ branch: 'none' }, `couldn't find remote ref "refs/heads/none" - `],
    [{ tag: 'none' }, `couldn't find remote ref "refs/tags/none" - `],
  ])('missing %o', async (ref, text) => {
    await expect(fetchGit({ ref })).rejects.toThrow(
      new Error(`bundle unpack git clone error: ${text}`),
    );
  });

  test('a missing commit', async () => {
    const commit = '0123456789012345678901234567890123456789';
    await expect(fetchGit({ ref: { commit } })).rejects.toThrow(
      new Error(`checkout commit "${commit}": object not found`),
    );
  });

  test('a short commit can never be found', async () => {
    await expect(fetchGit({ ref: { commit: 'abc' } })).rejects.toThrow(
      new TerminalError(`checkout commit "abc${'0'.repeat(37)}": object not found`),
    );
  });
});

describe('directory', () => {
  test.each(['dev/deploy', './dev/deploy', 'dev/deploy/'])('%s is the root', async (directory) => {
    expect(textOf(await fetchGit({ directory }))).toEqual({ 'b.yaml': 'b' });
  });

  test.each(['.', './'])('%s is the whole repository', async (directory) => {
    expect(Object.keys(textOf(await fetchGit({ directory })))).toHaveLength(2);
  });

  test('one that does not exist is an empty tree', async () => {
    expect(textOf(await fetchGit({ directory: 'none' }))).toEqual({});
  });

  test.each(['../x', '/etc', 'a/../../x'])('%s is refused', async (directory) => {
    await expect(fetchGit({ directory })).rejects.toThrow(
      new TerminalError(
        `get subdirectory "${directory}" for repository "${server.url}/combo": directory can not start with '../' or '/'`,
      ),
    );
  });
});

describe('servers', () => {
  test('a missing repository', async () => {
    await expect(fetchGit({ repository: `${server.url}/none` })).rejects.toThrow(
      new Error('bundle unpack git clone error: repository not found - '),
    );
  });

  test('a refused connection', async () => {
    await expect(fetchGit({ repository: 'http://127.0.0.1:1/x' })).rejects.toThrow(
      new Error(
        'bundle unpack git clone error: Get "http://127.0.0.1:1/x/info/refs?service=git-upload-pack": dial tcp 127.0.0.1:1: connect: connection refused - ',
      ),
    );
  });

  test('basic authentication from the Secret', async () => {
    const data = new Map([
      ['username', Buffer.from('me')],
      ['password', Buffer.from('pässword')],
    ]);
    const secrets = { read: async () => ({ type: 'kubernetes.io/basic-auth', data }) };
    const repository = `${guarded.url}/combo`;
    const result = await fetchGit(
      { repository, auth: { secret: { name: 's' } } },
      aSourceContext({ secrets }),
    );
    expect(result.resolvedSource.git?.auth).toEqual({ secret: { name: 's' } });
    await expect(fetchGit({ repository })).rejects.toThrow(
      new Error('bundle unpack git clone error: authentication required - '),
    );
  });

  test('a missing Secret is named', async () => {
    await expect(fetchGit({ auth: { secret: { name: 'nope' } } })).rejects.toThrow(
      new Error('configuring Auth error: Secret "nope" not found'),
    );
  });

  test.each(['ext::sh -c id', 'file:///etc', '--upload-pack=x', '/etc', 'git://host/x'])(
    '%s is refused',
    async (repository) => {
      await expect(fetchGit({ repository })).rejects.toThrow(TerminalError);
    },
  );

  test('no git block, no repository', async () => {
    await expect(createGitSource().fetch({ type: 'git' }, aSourceContext())).rejects.toThrow(
      new TerminalError('bundle source git configuration is unset'),
    );
    await expect(fetchGit({ repository: '' })).rejects.toThrow(
      new TerminalError('missing git source information: repository must be provided'),
    );
  });

  test('more than the limit', async () => {
    const limits = { ...defaultLimits, maxBytes: 200 };
    await expect(fetchGit({}, aSourceContext({ limits }))).rejects.toThrow('--max-content-bytes');
  });
});

test('symlinks are left out, wherever they lead', async () => {
  const repository = await TestRepository.create(root, 'links');
  await repository.commit({
    files: { 'a.yaml': 'a' },
    symlinks: { inside: 'a.yaml', outside: '../../etc/passwd' },
  });
  expect(textOf(await fetchGit({ repository: `${server.url}/links` }))).toEqual({ 'a.yaml': 'a' });
});

describe('compression', () => {
  test('a file that unpacks a thousandfold', async () => {
    const repository = await TestRepository.create(root, 'bomb');
    await repository.commit({ files: { 'manifests/bomb.yaml': ' '.repeat(8 * 1024 * 1024) } });
    const limits = { ...defaultLimits, maxBytes: 1024 * 1024 };
    await expect(
      fetchGit({ repository: `${server.url}/bomb` }, aSourceContext({ limits })),
    ).rejects.toThrow(
      `the repository ${server.url}/bomb unpacks to more than the limit of 1048576 bytes`,
    );
  });
});

describe('redirects', () => {
  let elsewhere: Server;
  let redirector: Server;
  const seen: (string | undefined)[] = [];

  beforeAll(async () => {
    elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(307, { location: `${server.url}${request.url}` }).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    redirector = createServer((request, response) => {
      const { port } = elsewhere.address() as AddressInfo;
      response.writeHead(307, { location: `http://127.0.0.1:${port}${request.url}` }).end();
    });
    await new Promise<void>((resolve) => redirector.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => {
    elsewhere.close();
    redirector.close();
  });

  test('are followed without credentials', async () => {
    const { port } = redirector.address() as AddressInfo;
    const data = new Map([['password', Buffer.from('secret')]]);
    const result = await fetchGit(
      { repository: `http://127.0.0.1:${port}/combo`, auth: { secret: { name: 's' } } },
      aSourceContext({ secrets: { read: async () => ({ type: 'Opaque', data }) } }),
    );
    expect(textOf(result)['manifests/a.yaml']).toBe('second');
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((header) => header === undefined)).toBe(true);
  });
});
