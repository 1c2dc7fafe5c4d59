import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SecretContent, SourceResult } from '../../core/contracts/source.ts';
import { TerminalError, WaitingError } from '../../core/errors.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { createImageSource } from '../../core/sources/index.ts';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { plane } from '../helpers/plane.ts';
import { pushChart } from '../helpers/push-chart.ts';
import { pushImage, pushIndex } from '../helpers/push-image.ts';
import { aSourceContext } from '../helpers/source-context.ts';

interface Fetch {
  readonly ref: string;
  readonly insecureRegistries?: readonly string[];
  readonly architecture?: string;
  readonly caCertificates?: string;
  readonly pullSecret?: SecretContent;
}

async function fetchImage(wanted: Fetch): Promise<SourceResult> {
  const { ref, architecture, caCertificates, pullSecret } = wanted;
  const source = createImageSource({
    insecureRegistries: wanted.insecureRegistries ?? [plane.registry],
    caCertificates,
    platform: architecture === undefined ? undefined : { os: 'linux', architecture },
    clock: systemClock,
  });
  const image = pullSecret === undefined ? { ref } : { ref, pullSecret: 'pull' };
  return await source.fetch(
    { type: 'image', image },
    aSourceContext({
      secrets: { read: async (name) => (name === 'pull' ? pullSecret : undefined) },
    }),
  );
}

function textOf({ files }: SourceResult): Record<string, string> {
  return Object.fromEntries(
    [...files.files].map(([path, content]) => [path, Buffer.from(content).toString('utf8')]),
  );
}

describe('the registry of the cluster', () => {
  const repository = 'integration/image-source';
  let target: { registry: string; repository: string };
  let repositoryRef: string;

  beforeAll(() => {
    target = { registry: plane.registry, repository };
    repositoryRef = `${target.registry}/${repository}`;
  });

  test('an image is pulled by tag and pinned to its digest', async () => {
    const files = { 'manifests/a.yaml': 'a: 1', 'manifests/b.yaml': 'b: 2' };
    const { digest } = await pushImage({ ...target, tag: 'v1', layers: [{ files }] });
    const result = await fetchImage({ ref: `${repositoryRef}:v1` });
    expect(textOf(result)).toEqual(files);
    expect([...result.files.directories]).toEqual(['manifests']);
    const pinned = `${repositoryRef}@${digest}`;
    expect(result.resolvedSource).toEqual({ type: 'image', image: { ref: pinned } });
    await pushImage({ ...target, tag: 'v1', layers: [{ files: { other: '' } }] });
    expect(textOf(await fetchImage({ ref: pinned }))).toEqual(files);
    expect(textOf(await fetchImage({ ref: `${repositoryRef}:v1` }))).toEqual({ other: '' });
  });

  test('layers of every compression lie over each other, with whiteouts', async () => {
    const layers = [
      { files: { 'a/x': '1', 'a/y': '1', 'b/x': '1', 'c/x': '1' }, compression: 'none' },
      { files: { 'a/.wh.x': '', '.wh.b': '', 'a/z': '2' }, compression: 'zstd' },
      { files: { 'c/.wh..wh..opq': '', 'c/y': '3' }, compression: 'gzip' },
    ] as const;
    await pushImage({ ...target, tag: 'layers', layers });
    const result = await fetchImage({ ref: `${repositoryRef}:layers` });
    expect(textOf(result)).toEqual({ 'a/y': '1', 'a/z': '2', 'c/y': '3' });
    expect([...result.files.directories]).toEqual(['a', 'c']);
  });

  test('a Helm chart is pulled as helm push writes it, signed or not, whatever its name', async () => {
    const files = { 'etc/Chart.yaml': 'name: etc', 'etc/templates/a.yaml': 'a: 1' };
    for (const provenance of [{}, { provenance: 'signed' }]) {
      const digest = await pushChart({ ...target, tag: '1.0.0', files, ...provenance });
      const result = await fetchImage({ ref: `${repositoryRef}:1.0.0` });
      expect(textOf(result)).toEqual(files);
      expect(result.resolvedSource.image?.ref).toBe(`${repositoryRef}@${digest}`);
    }
  });

  test('an index gives the image of the platform', async () => {
    const manifests = await Promise.all(
      ['amd64', 'arm64'].map((architecture) =>
        pushImage({
          ...target,
          tag: architecture,
          architecture,
          layers: [{ files: { architecture } }],
        }),
      ),
    );
    const { digest } = await pushIndex({ ...target, tag: 'index', manifests });
    const ref = `${repositoryRef}:index`;
    for (const architecture of ['amd64', 'arm64']) {
      const result = await fetchImage({ ref, architecture });
      expect(textOf(result)).toEqual({ architecture });
      expect(result.resolvedSource.image?.ref).toBe(`${repositoryRef}@${digest}`);
    }
    await expect(fetchImage({ ref, architecture: 's390x' })).rejects.toThrow(
      'error fetching image descriptor: image index has no manifest for linux/s390x; it has linux/amd64, linux/arm64',
    );
  });

  test.each(['image-source:nothing', 'nothing:v1'])('%s is waited for', async (name) => {
    const [, tag = ''] = name.split(':');
    const path = `integration/${name.slice(0, name.indexOf(':'))}`;
    const ref = `${target.registry}/${path}:${tag}`;
    await expect(fetchImage({ ref })).rejects.toThrow(
      new WaitingError(
        `Back-off pulling image "${ref}": registry ${target.registry} has no "${tag}" in repository ${path}`,
      ),
    );
  });

  test('an image that leaves its root is refused', async () => {
    const layers = [{ tarEntries: [{ name: '../evil', content: 'x' }] }];
    const { digest } = await pushImage({ ...target, tag: 'evil', layers });
    const refused = fetchImage({ ref: `${repositoryRef}@${digest}` });
    await expect(refused).rejects.toThrow(TerminalError);
    await expect(refused).rejects.toThrow('"../evil"');
  });

  test('an image of several megabytes is pulled', async () => {
    const line = 'a line of a manifest that compresses well, but not too well: ';
    const large = Array.from({ length: 60_000 }, (_, i) => `${line}${i ** 3}\n`).join('');
    await pushImage({ ...target, tag: 'large', layers: [{ files: { large } }] });
    expect(textOf(await fetchImage({ ref: `${repositoryRef}:large` }))).toEqual({ large });
  });
});

describe('a registry of its own', () => {
  // alice's password is "correct horse".
  const htpasswd = 'alice:$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e\n';
  const credentials = { username: 'alice', password: 'correct horse' };
  const files = { 'manifests/a.yaml': 'secret: true' };
  let dir: string;
  let guarded: OwnRegistry;
  let encrypted: OwnRegistry;
  let ca: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'rukpak-registry-'));
    const certificates = await generateCertificates();
    ca = certificates.ca.cert;
    guarded = await OwnRegistry.start({ dir, htpasswd });
    encrypted = await OwnRegistry.start({ dir, tls: certificates.server });
    const image = { repository: 'private/app', tag: 'v1', layers: [{ files }], credentials };
    await pushImage({ ...image, registry: guarded.host });
  });

  afterAll(async () => {
    await guarded?.stop();
    await encrypted?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  function pullSecret(password: string, data: Record<string, string> = {}): SecretContent {
    const auth = Buffer.from(`alice:${password}`).toString('base64');
    const config = JSON.stringify({ auths: { [guarded.host]: { auth } } });
    const entries = Object.entries({ '.dockerconfigjson': config, ...data });
    return {
      type: 'kubernetes.io/dockerconfigjson',
      data: new Map(entries.map(([key, value]) => [key, Buffer.from(value)])),
    };
  }

  test('opens with the right password', async () => {
    const ref = `${guarded.host}/private/app:v1`;
    const insecureRegistries = [guarded.host];
    const secret = pullSecret(credentials.password);
    const result = await fetchImage({ ref, insecureRegistries, pullSecret: secret });
    expect(textOf(result)).toEqual(files);
    expect(result.resolvedSource.image?.pullSecret).toBe('pull');
  });

  test('denies any other, and none', async () => {
    const ref = `${guarded.host}/private/app:v1`;
    const insecureRegistries = [guarded.host];
    const text = `error fetching image descriptor: registry ${guarded.host} denies access to repository private/app`;
    await expect(fetchImage({ ref, insecureRegistries })).rejects.toThrow(
      new Error(`${text} without credentials (401 Unauthorized)`),
    );
    const wrong = pullSecret('wrong');
    await expect(fetchImage({ ref, insecureRegistries, pullSecret: wrong })).rejects.toThrow(
      new Error(`${text} with the pull secret (401 Unauthorized)`),
    );
  });

  test('is trusted over TLS by its authority, of the process or of the pull secret', async () => {
    const ref = `${encrypted.host}/private/app:v1`;
    expect(textOf(await fetchImage({ ref, caCertificates: ca }))).toEqual(files);
    const secret = pullSecret('any', { 'ca.crt': ca });
    expect(textOf(await fetchImage({ ref, pullSecret: secret }))).toEqual(files);
    const distrusted = fetchImage({ ref });
    await expect(distrusted).rejects.toThrow(WaitingError);
    await expect(distrusted).rejects.toThrow('its TLS certificate is not trusted');
  });
});
