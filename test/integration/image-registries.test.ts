import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SecretContent, SourceResult } from '../../core/contracts/source.ts';
import { WaitingError } from '../../core/errors.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { readRegistriesConf, readRegistryCertificates } from '../../core/registry/index.ts';
import { createImageSource, type ImagePullerOptions } from '../../core/sources/index.ts';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import { ConnectProxy } from '../helpers/connect-proxy.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { pushImage } from '../helpers/push-image.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { aSourceContext } from '../helpers/source-context.ts';

const files = { 'manifests/a.yaml': 'a: 1' };
let dir: string;
/** Both have the same images. */
let plain: OwnRegistry;
let encrypted: OwnRegistry;
let certificates: Awaited<ReturnType<typeof generateCertificates>>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-registries-'));
  certificates = await generateCertificates();
  plain = await OwnRegistry.start({ dir });
  encrypted = await OwnRegistry.start({ dir, tls: certificates.server });
  await pushImage({
    registry: plain.host,
    repository: 'org/app',
    tag: 'v1',
    layers: [{ files }],
  });
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'rendered' } };
  await pushImage({
    registry: plain.host,
    repository: 'org/objects',
    tag: 'v1',
    layers: [{ files: { 'manifests/cm.yaml': JSON.stringify(object) } }],
  });
});

afterAll(async () => {
  await plain?.stop();
  await encrypted?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function fetchRef(
  ref: string,
  options: Partial<ImagePullerOptions>,
  pullSecret?: SecretContent,
): Promise<SourceResult> {
  const source = createImageSource({ insecureRegistries: [], clock: systemClock, ...options });
  const image = pullSecret === undefined ? { ref } : { ref, pullSecret: 'pull' };
  const secrets = { read: async () => pullSecret };
  return await source.fetch({ type: 'image', image }, aSourceContext({ secrets }));
}

function paths({ files }: SourceResult): string[] {
  return [...files.files.keys()];
}

async function conf(text: string): Promise<Partial<ImagePullerOptions>> {
  const file = join(dir, 'registries.conf');
  await writeFile(file, text);
  return { registries: readRegistriesConf(file) };
}

describe('certificates by registry', () => {
  test('are for that registry', async () => {
    const certs = join(dir, 'certs.d');
    await mkdir(join(certs, encrypted.host), { recursive: true });
    await writeFile(join(certs, encrypted.host, 'ca.crt'), certificates.ca.cert);
    const hostCertificates = readRegistryCertificates(certs);
    const ref = `${encrypted.host}/org/app:v1`;
    expect(paths(await fetchRef(ref, { hostCertificates }))).toEqual(Object.keys(files));
    const elsewhere = new Map([['other.example', { caCertificates: [certificates.ca.cert] }]]);
    await expect(fetchRef(ref, { hostCertificates: elsewhere })).rejects.toThrow(
      'its TLS certificate is not trusted',
    );
  });
});

describe('insecure places of a registries configuration', () => {
  test('are asked over TLS without a check, else over plain HTTP', async () => {
    for (const { host } of [encrypted, plain]) {
      const options = await conf(`[[registry]]\nlocation = "${host}"\ninsecure = true`);
      expect(paths(await fetchRef(`${host}/org/app:v1`, options))).toEqual(Object.keys(files));
    }
  });

  test('do not make others insecure', async () => {
    const { host } = encrypted;
    const options = await conf(`[[registry]]\nlocation = "${host}/other"\ninsecure = true`);
    await expect(fetchRef(`${host}/org/app:v1`, options)).rejects.toThrow(
      'its TLS certificate is not trusted',
    );
  });
});

describe('a mirror', () => {
  test('is taken where the registry is out of reach, with the authority of the pull secret', async () => {
    const options = await conf(`
      [[registry]]
      location = "127.0.0.1:1"
      [[registry.mirror]]
      location = "127.0.0.1:2/org"
      [[registry.mirror]]
      location = "${encrypted.host}"
    `);
    const secret = {
      type: 'kubernetes.io/dockerconfigjson',
      data: new Map([
        ['.dockerconfigjson', Buffer.from('{}')],
        ['ca.crt', Buffer.from(certificates.ca.cert)],
      ]),
    };
    const result = await fetchRef('127.0.0.1:1/org/app:v1', options, secret);
    expect(paths(result)).toEqual(Object.keys(files));
    expect(result.resolvedSource.image?.ref).toMatch(/^127\.0\.0\.1:1\/org\/app@sha256:/);
    await expect(fetchRef('127.0.0.1:1/org/app:v1', options)).rejects.toThrow(
      new RegExp(
        `^Back-off pulling image "127.0.0.1:1/org/app:v1": registry 127.0.0.1:2: connection refused; registry ${encrypted.host}: its TLS certificate is not trusted: .*; registry 127.0.0.1:1: connection refused$`,
      ),
    );
  });
});

describe('through a proxy', () => {
  const credentials = { username: 'alice', password: 'pass word' };

  test('images come from where the proxy leads', async () => {
    const proxy = await ConnectProxy.start({
      credentials,
      route: (host) => (host.endsWith(':80') ? plain.host : encrypted.host),
    });
    try {
      const options = {
        proxy: { httpProxy: proxy.address, httpsProxy: proxy.address },
        caCertificates: certificates.ca.cert,
        insecureRegistries: ['plain.example'],
      };
      for (const host of ['kubernetes.default.svc', 'plain.example']) {
        const result = await fetchRef(`${host}/org/app:v1`, options);
        expect(paths(result)).toEqual(Object.keys(files));
      }
      expect(proxy.seen[0]).toBe('CONNECT kubernetes.default.svc:443');
      expect(proxy.seen.at(-1)).toMatch(/^GET http:\/\/plain\.example\/v2\/org\/app\/blobs\//);
    } finally {
      await proxy.stop();
    }
  });

  test('a proxy that refuses or is out of reach is told', async () => {
    const proxy = await ConnectProxy.start({ credentials });
    const httpsProxy = proxy.address.replace('alice', 'bob');
    const ref = 'far.example/org/app:v1';
    const where = `Back-off pulling image "${ref}": registry far.example through the proxy ${new URL(httpsProxy).host}: `;
    await expect(fetchRef(ref, { proxy: { httpsProxy } })).rejects.toThrow(
      new WaitingError(
        `${where}the proxy answered 407 Proxy Authentication Required: its address must hold the right credentials`,
      ),
    );
    await proxy.stop();
    await expect(fetchRef(ref, { proxy: { httpsProxy } })).rejects.toThrow(
      new WaitingError(`${where}connection refused`),
    );
  });
});

describe('rukpakctl render', () => {
  test('asks mirrors, trusts authorities and goes through proxies as core does', async () => {
    const ca = join(dir, 'ca.crt');
    await writeFile(ca, certificates.ca.cert);
    const mirror = 'kubernetes.default.svc:8443';
    await conf(
      `[[registry]]\nlocation = "far.example"\n[[registry.mirror]]\nlocation = "${mirror}"`,
    );
    const proxy = await ConnectProxy.start({ route: () => encrypted.host });
    try {
      const { stdout, stderr } = await rukpakctl(
        [
          'render',
          'far.example/org/objects:v1',
          `--registries-conf=${join(dir, 'registries.conf')}`,
          `--registry-ca-file=${ca}`,
        ],
        { env: { HTTPS_PROXY: proxy.address, NO_PROXY: '' } },
      );
      expect(stderr).toBe('');
      expect(stdout).toContain('name: rendered');
      expect(proxy.seen).toContain(`CONNECT ${mirror}`);
    } finally {
      await proxy.stop();
    }
  });
});
