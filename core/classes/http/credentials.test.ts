import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type Certificates,
  generateCertificates,
} from '../../../deploy/local/cluster/certificates.ts';
import { answerJson, FakeClassServer } from '../../../test/helpers/class-server.ts';
import { aBundle, aContext, bundleFiles } from '../../../testing/index.ts';
import { TerminalError } from '../../errors.ts';
import { createRemoteProvisioner } from '../run-remote.ts';
import type { RemoteProvisioner } from './remote-provisioner.ts';

let certificates: Certificates;
let others: Certificates;
let folder: string;
let versions: number;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  certificates = await generateCertificates();
  others = await generateCertificates();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-credentials-'));
  versions = 0;
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await rm(folder, { recursive: true, force: true });
});

afterAll(() => expect(ends).toEqual([]));

/** As the kubelet mounts a Secret: all files change at once. */
async function mount(files: Readonly<Record<string, string>>): Promise<void> {
  const version = `..version-${versions}`;
  versions += 1;
  await mkdir(join(folder, version));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, version, name), text);
    const isNew = versions === 1;
    if (isNew) await symlink(join('..data', name), join(folder, name));
  }
  await symlink(version, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

interface ServerNeeds {
  /** Client certificates must be signed by it. */
  readonly clientCa?: string;
  readonly token?: string;
}

async function serve({ clientCa, token }: ServerNeeds = {}): Promise<FakeClassServer> {
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true };
  const server = await FakeClassServer.start({ tls: { ...certificates.server, ...client } });
  ends.push(() => server.stop());
  server.answers.set('/v1/bundle', (response, { headers: { authorization } }) => {
    if (token === undefined || authorization === `Bearer ${token}`) response.writeHead(204).end();
    else answerJson(response, { message: `I do not know ${authorization}` }, 422);
  });
  return server;
}

async function connect({ url }: FakeClassServer): Promise<RemoteProvisioner> {
  const options = { className: 'acme', url, credentials: folder };
  const provisioner = await createRemoteProvisioner(options);
  ends.push(() => provisioner.close());
  return provisioner;
}

async function handle({ bundle }: RemoteProvisioner): Promise<string> {
  const files = bundleFiles({ a: 'a' });
  await bundle!(files, aBundle({ className: 'acme' }), aContext());
  return 'done';
}

test('a bearer token is sent, and a new one once the folder has it', async () => {
  const server = await serve({ token: 'first-token' });
  await mount({ token: 'first-token\n', 'ca.crt': certificates.ca.cert });
  const provisioner = await connect(server);
  expect(await handle(provisioner)).toBe('done');
  await mount({ token: 'second-token', 'ca.crt': certificates.ca.cert });
  const error = await handle(provisioner).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(TerminalError);
  expect((error as Error).message).toBe(`class "acme" at ${server.url}: I do not know Bearer ***`);
  expect(server.received.at(-1)?.headers.authorization).toBe('Bearer second-token');
  await mount({ token: 'first-token', 'ca.crt': certificates.ca.cert });
  expect(await handle(provisioner)).toBe('done');
});

test('a client certificate is shown, and a new one once the folder has it', async () => {
  const server = await serve({ clientCa: certificates.ca.cert });
  const { ca, admin } = certificates;
  const stranger = { 'tls.crt': others.admin.cert, 'tls.key': others.admin.key };
  await mount({ ...stranger, 'ca.crt': ca.cert });
  const provisioner = await connect(server);
  await expect(handle(provisioner)).rejects.toThrow(`class "acme" at ${server.url}: `);
  await mount({ 'tls.crt': admin.cert, 'tls.key': admin.key, 'ca.crt': ca.cert });
  expect(await handle(provisioner)).toBe('done');
  expect(await handle(provisioner)).toBe('done');
});

test('a server that wants a certificate gets none where there is none', async () => {
  const server = await serve({ clientCa: certificates.ca.cert });
  await mount({ 'ca.crt': certificates.ca.cert });
  await expect(handle(await connect(server))).rejects.toThrow(`class "acme" at ${server.url}: `);
});

test('a server of another authority is not spoken to', async () => {
  const server = await serve();
  await mount({ token: 'secret-token', 'ca.crt': others.proxyCa.cert });
  await expect(handle(await connect(server))).rejects.toThrow(
    `class "acme" at ${server.url}: x509: certificate signed by unknown authority: put its certificate into ca.crt in the folder of --provisioner-url-credentials`,
  );
  expect(server.received).toEqual([]);
});

test('a certificate for another host is told of', async () => {
  const server = await serve();
  await mount({ 'ca.crt': certificates.ca.cert });
  const url = server.url.replace('127.0.0.1', '127.0.0.2');
  const provisioner = await createRemoteProvisioner({
    className: 'acme',
    url,
    credentials: folder,
  });
  ends.push(() => provisioner.close());
  await expect(handle(provisioner)).rejects.toThrow(/class "acme" at .*: .*(altnames|refused)/);
});

test.each<[Readonly<Record<string, string>>, string]>([
  [{}, 'it contains neither token, nor tls.crt with tls.key, nor ca.crt'],
  [{ other: 'x' }, 'it contains neither token, nor tls.crt with tls.key, nor ca.crt'],
  [{ token: 'two\nlines' }, 'its token must be one line of visible ASCII characters'],
  [{ token: '' }, 'its token must be one line of visible ASCII characters'],
  [{ 'tls.crt': 'x' }, 'tls.crt and tls.key need each other'],
  [{ 'tls.crt': 'x', 'tls.key': 'x' }, 'tls.crt and tls.key are not a certificate and its key'],
  [{ 'ca.crt': 'x' }, 'ca.crt is not a PEM certificate'],
])('a folder with %j is refused at the start', async (files, text) => {
  await mount(files);
  const options = { className: 'acme', url: 'https://acme.example', credentials: folder };
  await expect(createRemoteProvisioner(options)).rejects.toThrow(
    `cannot use --provisioner-url-credentials "${folder}": ${text}`,
  );
});

test('a folder that is not there is refused at the start', async () => {
  const credentials = join(folder, 'nowhere');
  const options = { className: 'acme', url: 'https://acme.example', credentials };
  await expect(createRemoteProvisioner(options)).rejects.toThrow(
    `cannot use --provisioner-url-credentials "${credentials}": ENOENT`,
  );
});

test('a folder that breaks later fails the object, and shows nothing of what is in it', async () => {
  const server = await serve();
  await mount({ token: 'good', 'ca.crt': certificates.ca.cert });
  const provisioner = await connect(server);
  await mount({ token: 'se cret', 'ca.crt': certificates.ca.cert });
  const { message } = (await handle(provisioner).catch((error: unknown) => error)) as Error;
  expect(message).toContain('its token must be one line');
  expect(message).not.toContain('cret"');
  expect(message).not.toContain('se cret');
});
