import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { GitSource } from '../../api/v1alpha1/bundle.ts';
import { TerminalError } from '../../core/errors.ts';
import { TestRepository } from '../../deploy/local/git/create-repository.ts';
import { eventually } from '../helpers/eventually.ts';
import { fetchGit, textOf } from '../helpers/git-fetch.ts';
import { SSHServer } from '../helpers/ssh-server.ts';

/** Repositories over SSH, by a real OpenSSH server and git's own upload-pack. */
let root: string;
let server: SSHServer;
let repository: string;
let secret: { readonly 'ssh-privatekey': string; readonly 'ssh-knownhosts': string };
let knownHosts: string;
let first: string;
let tagged: string;
let head: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rukpak-git-'));
  await chmod(root, 0o755);
  const created = await TestRepository.create(root, "com'bo!");
  first = await created.commit({ files: { 'manifests/a.yaml': 'first' } });
  tagged = await created.commit({
    files: { 'manifests/a.yaml': 'tagged' },
    branch: 'release',
    annotatedTag: 'v1.0.0',
  });
  await created.deleteBranch('release');
  head = await created.commit({ files: { 'manifests/a.yaml': 'head', 'b/c.yaml': 'c' } });
  server = await SSHServer.start({ root, hostKeys: ['ed25519', 'ecdsa', 'rsa'] });
  repository = server.url("com'bo!");
  knownHosts = await server.knownHosts();
  const key = await server.authorizedKey('-t', 'ed25519', '-N', '');
  secret = { 'ssh-privatekey': key, 'ssh-knownhosts': knownHosts };
});

afterAll(async () => {
  await server?.stop();
  await rm(root, { recursive: true, force: true });
});

afterEach(async () => {
  await eventually(async () => expect(await server.connections()).toBe(0));
});

interface Changes {
  readonly git?: Partial<GitSource>;
  readonly secret?: Readonly<Record<string, string>> | undefined;
}

async function fetch(changes: Changes = {}, context = {}) {
  const git = { repository, ref: { branch: 'main' }, ...changes.git };
  const used = 'secret' in changes ? changes.secret : secret;
  return await fetchGit({ git, ...(used === undefined ? {} : { secret: used }), context });
}

async function failure(changes: Changes): Promise<Error> {
  return await fetch(changes).then(
    () => {
      throw new Error('it was fetched');
    },
    (error: Error) => error,
  );
}

describe('refs', () => {
  test('a branch is pinned to its head', async () => {
    const result = await fetch();
    expect(textOf(result)).toEqual({ 'b/c.yaml': 'c', 'manifests/a.yaml': 'head' });
    expect(result.resolvedSource.git).toEqual({
      repository,
      ref: { commit: head },
      auth: { secret: { name: 's' } },
    });
  });

  test('an annotated tag that is on no branch, and its commit', async () => {
    const result = await fetch({ git: { ref: { tag: 'v1.0.0' } } });
    expect(result.resolvedSource.git?.ref).toEqual({ commit: tagged });
    expect(textOf(result)).toEqual({ 'manifests/a.yaml': 'tagged' });
    expect(textOf(await fetch({ git: { ref: { commit: tagged } } }))).toEqual(textOf(result));
  });

  test('a commit that no ref names is found in the history', async () => {
    const result = await fetch({ git: { ref: { commit: first } } });
    expect(textOf(result)).toEqual({ 'manifests/a.yaml': 'first' });
  });

  test.each([
    [
      { branch: 'none' },
      `bundle unpack git clone error: couldn't find remote ref "refs/heads/none" - `,
    ],
    [
      { tag: 'none' },
      `bundle unpack git clone error: couldn't find remote ref "refs/tags/none" - `,
    ],
    [{ commit: '01'.repeat(20) }, `checkout commit "${'01'.repeat(20)}": object not found`],
    [{ commit: 'abc' }, `checkout commit "abc${'0'.repeat(37)}": object not found`],
  ])('missing %o', async (ref, text) => {
    expect((await failure({ git: { ref } })).message).toBe(text);
  });

  test('an empty repository', async () => {
    await TestRepository.create(root, 'empty');
    const { message } = await failure({ git: { repository: server.url('empty') } });
    expect(message).toBe(
      `bundle unpack git clone error: couldn't find remote ref "refs/heads/main" - `,
    );
  });

  test('a directory', async () => {
    expect(textOf(await fetch({ git: { directory: './b/' } }))).toEqual({ 'c.yaml': 'c' });
  });
});

describe('addresses', () => {
  test('a missing repository', async () => {
    const { message } = await failure({ git: { repository: server.url('none') } });
    expect(message).toBe('bundle unpack git clone error: repository not found - ');
  });

  test('a path is one word for the shell', async () => {
    const harm = join(root, 'harm');
    const { message } = await failure({
      git: { repository: server.url(`x'; touch ${harm}; $(touch ${harm}) '`) },
    });
    expect(message).toBe('bundle unpack git clone error: repository not found - ');
    const files = await import('node:fs/promises').then(({ readdir }) => readdir(root));
    expect(files).not.toContain('harm');
  });

  test('a refused connection', async () => {
    const { message } = await failure({ git: { repository: 'ssh://127.0.0.1:1/x' } });
    expect(message).toBe(
      'bundle unpack git clone error: dial tcp 127.0.0.1:1: connect: connection refused - ',
    );
  });

  test('a host that does not exist', async () => {
    const { message } = await failure({ git: { repository: 'git@nowhere.invalid:x' } });
    expect(message).toBe(
      'bundle unpack git clone error: dial tcp: lookup nowhere.invalid: no such host - ',
    );
  });

  test('another user', async () => {
    const { message } = await failure({ git: { repository: repository.replace('git@', 'me@') } });
    expect(message).toBe(
      'bundle unpack git clone error: ssh: handshake failed: ssh: unable to authenticate: the server does not take key "ssh-privatekey" of Secret "s" for user "me" - ',
    );
  });
});

describe('the private key', () => {
  test.each([
    ['RSA', ['-t', 'rsa', '-b', '2048', '-N', '']],
    ['RSA in PEM', ['-t', 'rsa', '-b', '2048', '-m', 'PEM', '-N', '']],
    ['ECDSA', ['-t', 'ecdsa', '-N', '']],
    ['ECDSA in PKCS#8', ['-t', 'ecdsa', '-m', 'PKCS8', '-N', '']],
  ])('%s', async (_case, arguments_) => {
    const key = await server.authorizedKey(...arguments_);
    await fetch({ secret: { ...secret, 'ssh-privatekey': key } });
  });

  test('with its passphrase', async () => {
    const key = await server.authorizedKey('-t', 'ed25519', '-N', 'open sesame');
    const encrypted = { ...secret, 'ssh-privatekey': key };
    await fetch({ secret: { ...encrypted, passphrase: 'open sesame\n' } });
    const missing = await failure({ secret: encrypted });
    expect(missing.message).toBe(
      'configuring Auth error: ssh: this private key is passphrase protected: put the right one into key "passphrase" of Secret "s"',
    );
    const wrong = await failure({ secret: { ...encrypted, passphrase: 'wrong' } });
    expect(wrong.message).toBe(
      'configuring Auth error: ssh: the passphrase does not open the private key: put the right one into key "passphrase" of Secret "s"',
    );
  });

  test('that is not a key', async () => {
    const { message } = await failure({ secret: { ...secret, 'ssh-privatekey': 'x' } });
    expect(message).toBe('configuring Auth error: ssh: no key found');
  });

  test('that is not there', async () => {
    const { message } = await failure({ secret: { 'ssh-knownhosts': knownHosts } });
    expect(message).toBe(
      'configuring Auth error: ssh: no key found: Secret "s" has no key "ssh-privatekey"',
    );
  });

  test('that the server does not know', async () => {
    const other = await SSHServer.start({ root });
    try {
      const key = await other.authorizedKey('-t', 'ed25519', '-N', '');
      const { message } = await failure({ secret: { ...secret, 'ssh-privatekey': key } });
      expect(message).toContain('ssh: unable to authenticate');
    } finally {
      await other.stop();
    }
  });

  test('in no Secret', async () => {
    const error = await failure({ secret: undefined });
    expect(error).toEqual(
      new TerminalError(
        'configuring Auth error: a git repository over SSH needs git.auth.secret.name: a Secret with the keys "ssh-privatekey" and "ssh-knownhosts"',
      ),
    );
  });

  test('in a Secret that is not there', async () => {
    const { message } = await failure({
      git: { auth: { secret: { name: 'nope' } } },
      secret: undefined,
    });
    expect(message).toBe('configuring Auth error: Secret "nope" not found');
  });
});

describe('the host key', () => {
  function withKnownHosts(lines: string): Changes {
    return { secret: { ...secret, 'ssh-knownhosts': lines } };
  }

  function only(type: string): string {
    return knownHosts.split('\n').find((line) => line.includes(type)) ?? '';
  }

  test('in hashed lines', async () => {
    await fetch(withKnownHosts(await server.knownHosts({ hashed: true })));
  });

  test.each(['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ssh-rsa'])(
    'of type %s, where that is the only one known',
    async (type) => {
      await fetch(withKnownHosts(`other.example ${only('ssh-rsa').slice(20)}\n${only(type)}`));
    },
  );

  test('that is not known', async () => {
    const { message } = await failure(withKnownHosts('# nothing'));
    expect(message).toMatch(
      /^bundle unpack git clone error: ssh: handshake failed: the host key of "\[127\.0\.0\.1\]:\d+" is not known: the host shows ssh-ed25519 key SHA256:[\w+/]{43}; if that is right, put its line into key "ssh-knownhosts" of Secret "s" - $/,
    );
  });

  test('that is another', async () => {
    const other = await SSHServer.start({ root });
    try {
      const theirs = (await other.knownHosts()).replace(`${other.port}`, `${server.port}`);
      const before = server.log.length;
      const { message } = await failure(withKnownHosts(theirs));
      expect(message).toMatch(
        /^bundle unpack git clone error: ssh: handshake failed: ssh: host key mismatch for "\[127\.0\.0\.1\]:\d+": the host shows ssh-ed25519 key SHA256:[\w+/]{43}, but other keys are known: somebody may intercept the connection; if that is right, put its line into key "ssh-knownhosts" of Secret "s" - $/,
      );
      // The key was never offered to the wrong host.
      const logged = () => server.log.slice(before);
      await eventually(() => expect(logged()).toMatch(/\[preauth\]\s*$/));
      expect(logged()).not.toMatch(/publickey/i);
    } finally {
      await other.stop();
    }
  });

  test('that is revoked', async () => {
    const revoked = `@revoked ${only('ssh-ed25519')}\n${only('ssh-ed25519')}`;
    const { message } = await failure(withKnownHosts(revoked));
    expect(message).toMatch(/is revoked: the host shows ssh-ed25519 key SHA256:/);
  });

  test('that only an authority vouches for', async () => {
    const { message } = await failure(withKnownHosts(`@cert-authority ${only('ssh-ed25519')}`));
    expect(message).toContain('host certificates (@cert-authority) are not supported');
  });

  test('without known hosts', async () => {
    const { message } = await failure({
      secret: { 'ssh-privatekey': secret['ssh-privatekey'] },
    });
    expect(message).toBe(
      `configuring Auth error: Secret "s" has no key "ssh-knownhosts", so core cannot verify that "127.0.0.1" is the right host: put its known_hosts lines there (ssh-keyscan -p ${server.port} 127.0.0.1 prints them), or set git.auth.insecureSkipVerify`,
    );
  });

  test('does not matter with insecureSkipVerify', async () => {
    const git = { auth: { secret: { name: 's' }, insecureSkipVerify: true } };
    await fetch({ git, secret: { 'ssh-privatekey': secret['ssh-privatekey'] } });
    await fetch({ git, ...withKnownHosts(`@revoked * ${only('ssh-ed25519').slice(20)}`) });
  });
});

test('an abort closes the connection', async () => {
  const stop = new AbortController();
  const fetching = fetch({}, { signal: stop.signal });
  stop.abort(new Error('the Bundle is gone'));
  await expect(fetching).rejects.toThrow('the Bundle is gone');
});
