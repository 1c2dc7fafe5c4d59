import { deepEqual, equal, rejects } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { after } from 'node:test';
import { aSourceContext, bundleFiles, describeSource } from 'rukpak-ts/testing';
import { signedHeaders } from '../src/signature.ts';
import s3 from '../src/source.ts';
import { S3Server } from './s3-server.ts';

const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n';
const files = { 'manifests/settings.yaml': manifest };

const server = await S3Server.start();
const version = server.put('team-a', 'shop/bundle 1.tgz', archiveOf(files));
server.put('open-to-all', 'bundle.tgz', archiveOf(files));
server.put('open-unversioned', 'bundle.tgz', archiveOf(files));
server.put('open-suspended', 'bundle.tgz', archiveOf(files));
after(() => server.stop());

const { id, secret } = server.accessKey;
const login = bundleFiles({ 'access-key-id': id, 'secret-access-key': secret }).files;
const secrets = { login: { type: 'Opaque', data: login } };
const host = new URL(server.endpoint).host;

function source(fields: Record<string, unknown> = {}) {
  const { endpoint } = server;
  const parameters = { endpoint, bucket: 'open-to-all', key: 'bundle.tgz', ...fields };
  return { type: 'example-com-s3', parameters };
}

const ofTeam = { bucket: 'team-a', key: 'shop/bundle 1.tgz', secret: 'login' };

describeSource(
  s3,
  {
    fetched: [
      {
        name: 'an object that takes a signature',
        source: source(ofTeam),
        secrets,
        files,
        resolvedSource: source({ ...ofTeam, version }),
        host,
      },
      { name: 'an object for everyone', source: source(), files, host },
    ],
    refused: [
      {
        name: 'an object that is not there yet',
        source: source({ key: 'later.tgz' }),
        error: 'WaitingError',
        message: 'waiting for object "later.tgz" of bucket "open-to-all"',
      },
      {
        name: 'a version that is not there',
        source: source({ version: 'gone' }),
        error: 'TerminalError',
        message: 'object "bundle.tgz" of bucket "open-to-all" has no version "gone"',
      },
      {
        name: 'a bucket without versions',
        source: source({ bucket: 'open-unversioned' }),
        error: 'Error',
        message: 'bucket "open-unversioned" keeps no versions: enable its versioning',
      },
      {
        name: 'a bucket that keeps no versions any more',
        source: source({ bucket: 'open-suspended' }),
        error: 'Error',
        message: 'bucket "open-suspended" keeps no versions: enable its versioning',
      },
      {
        name: 'a bucket that takes a signature',
        source: source({ bucket: 'team-a' }),
        error: 'Error',
        message: 'cannot get object "bundle.tgz" of bucket "team-a": SignatureDoesNotMatch',
      },
      {
        name: 'a Secret that is not there',
        source: source(ofTeam),
        error: 'Error',
        message: 'Secret "login" not found',
      },
      {
        name: 'a parameter that nobody knows',
        source: source({ prefix: 'x' }),
        error: 'TerminalError',
        message: 'spec.source.parameters: Unrecognized key: "prefix"',
      },
      {
        name: 'a key that leaves the bucket',
        source: source({ key: '../other/bundle.tgz' }),
        error: 'TerminalError',
        message: /^spec\.source\.parameters\.key: Invalid string: must match pattern/,
      },
    ],
  },
  { test },
);

test('what is pinned stays the same when there is a newer version', async () => {
  const first = await s3.fetch(source(ofTeam), aSourceContext({ secrets }));
  const newer = server.put('team-a', ofTeam.key, archiveOf({ 'manifests/other.yaml': manifest }));
  const again = await s3.fetch(first.resolvedSource, aSourceContext({ secrets }));
  deepEqual([...again.files.files.keys()], ['manifests/settings.yaml']);
  equal(server.requests.at(-1), `/team-a/shop/bundle%201.tgz?versionId=${version}`);
  const { resolvedSource } = await s3.fetch(source(ofTeam), aSourceContext({ secrets }));
  deepEqual(resolvedSource, source({ ...ofTeam, version: newer }));
});

test('a server that is not there is tried again', async () => {
  const away = source({ endpoint: 'http://127.0.0.1:1' });
  await rejects(
    s3.fetch(away, aSourceContext()),
    /^Error: GET http:\/\/127\.0\.0\.1:1\/open-to-all/,
  );
});

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
test('requests are signed as in the examples of AWS', () => {
  const key = {
    id: 'AKIAIOSFODNN7EXAMPLE',
    secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const signatureOf = (query: string) => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com/${query}`);
    const headers = signedHeaders(url, key, new Date('2013-05-24T00:00:00Z'));
    return headers['authorization']?.split('Signature=')[1];
  };
  equal(
    signatureOf('?lifecycle'),
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  );
  equal(
    signatureOf('?max-keys=2&prefix=J'),
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});

/** A tar.gz, as `tar` makes it. */
function archiveOf(texts: Readonly<Record<string, string>>): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 's3-source-'));
  try {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return spawnSync('tar', ['-czf', '-', '-C', folder, '.']).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
