import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { generateCertificates } from '../../../deploy/local/cluster/certificates.ts';
import { readRegistryCertificates } from './registry-certificates.ts';

let certificates: Awaited<ReturnType<typeof generateCertificates>>;
let directory: string;

beforeAll(async () => {
  certificates = await generateCertificates();
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rukpak-certs-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function write(host: string, name: string, text: string): Promise<string> {
  await mkdir(join(directory, host), { recursive: true });
  const file = join(directory, host, name);
  await writeFile(file, text);
  return file;
}

test('each host has its authorities and its client certificate', async () => {
  const { ca, proxyCa, admin } = certificates;
  await write('Quay.example:443', 'one.crt', ca.cert);
  await write('Quay.example:443', 'two.crt', proxyCa.cert);
  await write('127.0.0.1:5000', 'client.cert', admin.cert);
  await write('127.0.0.1:5000', 'client.key', admin.key);
  await write('docker.io', 'README', 'x');
  // As Kubernetes mounts volumes.
  await mkdir(join(directory, '..data'));
  await symlink(join(directory, 'docker.io'), join(directory, 'mounted.example'));
  expect(readRegistryCertificates(directory)).toEqual(
    new Map([
      ['127.0.0.1:5000', { caCertificates: [], clientCertificate: admin }],
      ['quay.example', { caCertificates: [ca.cert, proxyCa.cert] }],
      ['registry-1.docker.io', { caCertificates: [] }],
      ['mounted.example', { caCertificates: [] }],
    ]),
  );
});

test('what cannot be used is named by its file', async () => {
  const { admin, ca, server } = certificates;
  expect(() => readRegistryCertificates(join(directory, 'none'))).toThrow(
    'cannot read --registry-certs-dir: ENOENT',
  );
  const client = await write('a.example', 'client.cert', admin.cert);
  expect(() => readRegistryCertificates(directory)).toThrow(`ENOENT`);
  const key = await write('a.example', 'client.key', server.key);
  expect(() => readRegistryCertificates(directory)).toThrow(
    `${client} and ${key} are no client certificate and its key`,
  );
  await write('a.example', 'another.cert', admin.cert);
  expect(() => readRegistryCertificates(directory)).toThrow('more than one client certificate');
  await rm(join(directory, 'a.example'), { recursive: true });
  await write('b.example', 'good.crt', ca.cert);
  const bad = await write('b.example', 'wrong.crt', 'x');
  expect(() => readRegistryCertificates(directory)).toThrow(`${bad} is not a PEM certificate`);
});
