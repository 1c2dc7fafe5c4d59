import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { type TarEntry, tarArchive } from '../../deploy/release/tar-archive.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { System } from '../helpers/system.ts';

/** Content and servers of strangers: each ends in its own condition, and holds nobody else up. */
let system: System;
let kubectl: Kubectl;
let registry: string;
let evil: Awaited<ReturnType<typeof startTrickle>>;

beforeAll(async () => {
  registry = plane.registry;
  evil = await startTrickle();
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  const flags = [`--insecure-registry=${evil.host}`];
  system = await System.start({ kubeconfig: plane.kubeconfig, registry, flags });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  await system.stop();
  await evil.close();
});

let slowest: number;

beforeEach(() => {
  slowest = 0;
  const stop = new AbortController();
  const watched = watchHealth(stop.signal);
  return async () => {
    stop.abort();
    await watched;
    // A loaded machine may be slow, but an event loop that is held up stays so for longer.
    expect(slowest).toBeLessThan(10_000);
    await installsSoon();
  };
});

async function watchHealth(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const start = performance.now();
    await (await fetch(`${system.healthAddress}/healthz`)).text();
    slowest = Math.max(slowest, performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A registry whose every layer comes a byte a second. */
async function startTrickle() {
  const digest = `sha256:${'1'.repeat(64)}`;
  const descriptor = { digest, size: 100_000 };
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { ...descriptor, mediaType: 'application/vnd.oci.image.config.v1+json' },
    layers: [{ ...descriptor, mediaType: 'application/vnd.oci.image.layer.v1.tar' }],
  };
  const server = createServer((request, response) => {
    if (request.url?.includes('/manifests/') === true) {
      response.end(stringifyJson(manifest));
      return;
    }
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 1000);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

let images = 0;

async function pushLayer(tarEntries: readonly TarEntry[], rawLayer?: Uint8Array) {
  const repository = `hostile/i${images++}`;
  const layer = rawLayer === undefined ? { tarEntries } : { rawLayer };
  await pushImage({ registry, repository, tag: 'v1', layers: [{ ...layer, compression: 'none' }] });
  return anImage(`${registry}/${repository}:v1`);
}

async function pushObjects(...objects: readonly object[]): Promise<BundleSource> {
  const content = objects.map((object) => `---\n${stringifyJson(object)}\n`).join('');
  return await pushLayer([{ name: 'manifests/all.yaml', content }]);
}

async function deploy(name: string, source: BundleSource): Promise<void> {
  await kubectl.apply(aBundleDeployment({ name, source }));
}

/** Waits for a condition, and for what it is to say. */
async function condition(
  name: string,
  type: string,
  expected: Pick<Condition, 'status'> & Partial<Condition>,
): Promise<void> {
  await eventually(async () => {
    const found = conditionOf(await kubectl.get('bundledeployment', name), type);
    expect({ name, ...found }).toMatchObject({ name, ...expected });
  });
}

/** Waits until what there is to apply cannot be made of the content. */
async function refused(name: string, message: string): Promise<void> {
  await condition(name, 'HasValidBundle', { status: 'False', message });
}

async function installsSoon(): Promise<void> {
  const name = `good-${images}`;
  await deploy(name, await pushObjects(aConfigMap(name)));
  await condition(name, 'Installed', { status: 'True' });
  await kubectl.deleteNamed('bundledeployment', [name]);
}

describe('content', () => {
  test('messages of megabytes that look like URLs are cut in no time', async () => {
    const kind = 'a.'.repeat(200_000);
    const object = { apiVersion: 'v1', kind, metadata: { name: 'x' } };
    await deploy('odd-kind', await pushObjects(object));
    const message = expect.stringContaining('no matches for kind "a.a.a.');
    await condition('odd-kind', 'Installed', { status: 'False', message });
    const told = conditionOf(await kubectl.get('bundledeployment', 'odd-kind'), 'Installed');
    expect(told?.message.length).toBeLessThan(1000);
  });

  test('a long name of zeros in an archive is read in no time', async () => {
    const bytes = tarArchive([{ name: 'manifests/a.yaml', content: 'x'.repeat(1_000_000) }]);
    // The entry becomes the GNU long name of the next one, ending in something else than a zero.
    bytes.fill(0, 512, 512 + 999_999);
    bytes.write('L', 156, 'latin1');
    bytes.write('        ', 148, 'latin1');
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    const archive = Buffer.concat([
      bytes.subarray(0, -1024),
      tarArchive([{ name: 'manifests/b.yaml', content: 'x' }]),
    ]);
    await deploy('zeros', await pushLayer([], archive));
    await refused(
      'zeros',
      expect.stringContaining('archive has a path of 1000000 bytes, over the limit of 1024'),
    );
  });

  test('content that compresses very well is stored once and loaded again', async () => {
    const data = { a: 'x'.repeat(900_000), b: '' };
    const fields = { ...aConfigMap('dense'), data };
    await deploy('dense', await pushObjects(fields, { ...aConfigMap('dense-2'), data }));
    await condition('dense', 'Installed', { status: 'True' });
  });

  test('too many objects, and one that is too large', async () => {
    const many = Array.from({ length: 20_001 }, () => aConfigMap('same'));
    await deploy('many', await pushObjects(...many));
    await refused(
      'many',
      expect.stringContaining(
        'bundle has more than 20000 objects (--max-content-entries): split it',
      ),
    );
    await deploy('large', await pushObjects(aConfigMap('large', { a: 'x'.repeat(4_000_000) })));
    await refused(
      'large',
      expect.stringMatching(
        /ConfigMap "default\/large" has 4000\d\d\d bytes as JSON, more than the 3145728/,
      ),
    );
  });

  test('a Bundle inside a bundle is content, and costs no deployment its own', async () => {
    const source = await pushObjects(aConfigMap('inner'));
    await deploy('bystander', source);
    await condition('bystander', 'Installed', { status: 'True' });
    const before = await uidsOfBundles('bystander');
    await deploy('umbrella', await pushObjects(aBundle({ name: 'umbrella-content', source })));
    await condition('umbrella', 'Healthy', { status: 'True' });
    const umbrella = await uidsOfBundles('umbrella');
    await kubectl.must(['annotate', 'bundledeployment', 'bystander', 'touched=yes']);
    await installsSoon();
    expect(await uidsOfBundles('bystander')).toEqual(before);
    expect(await uidsOfBundles('umbrella')).toEqual(umbrella);
    expect(umbrella.size).toBe(2);
  });

  test('a deployment that contains itself is refused', async () => {
    const repository = 'hostile/itself';
    const itself = anImage(`${registry}/${repository}:v1`);
    const content = stringifyJson(aBundleDeployment({ name: 'itself', source: itself }));
    const layers = [{ files: { 'manifests/itself.yaml': content } }];
    await pushImage({ registry, repository, tag: 'v1', layers });
    await kubectl.apply(
      aBundleDeployment(
        { name: 'itself', source: itself },
        { annotations: { 'core.rukpak.io/adopt': '*' } },
      ),
    );
    await condition('itself', 'Installed', {
      status: 'False',
      message:
        'BundleDeployment "itself": a bundle may not contain the BundleDeployment that installs it; remove it from the bundle',
    });
  });
});

async function uidsOfBundles(owner: string): Promise<ReadonlySet<string | undefined>> {
  const selector = `--selector=core.rukpak.io/owner-name=${owner}`;
  const list = JSON.parse(await kubectl.must(['get', 'bundles', selector, '--output=json'])) as {
    items: KubernetesObject[];
  };
  return new Set(list.items.map(({ metadata }) => metadata.uid));
}

describe('specs and marks', () => {
  test('a directory of half a million parts is judged in no time', async () => {
    const directory = '../'.repeat(450_000);
    const repository = 'https://example.invalid/r';
    const source: BundleSource = {
      type: 'git',
      git: { repository, ref: { branch: 'main' }, directory },
    };
    const bundle = stringifyJson(aBundle({ name: 'far-out', source }));
    const { stderr } = await kubectl.run(['create', '--filename=-'], bundle);
    expect(stderr).toContain('directory must define path within the repository');
  });

  test('an ApplySet annotation that names what is never kept blocks nothing', async () => {
    await deploy('marked', await pushObjects(aConfigMap('marked')));
    await condition('marked', 'Installed', { status: 'True' });
    const key = 'applyset.kubernetes.io/contains-group-kinds';
    const kinds = 'TokenReview.authentication.k8s.io,Binding,../..,A.b';
    await kubectl.must([
      'annotate',
      'bundledeployment',
      'marked',
      '--overwrite',
      `${key}=${kinds}`,
    ]);
    await eventually(async () => {
      const { metadata } = await kubectl.get('bundledeployment', 'marked');
      expect(metadata.annotations?.[key]).toBe('ConfigMap');
    });
  });
});

test('a Bundle is deleted at once while a server is sending it byte by byte', async () => {
  await kubectl.apply(aBundle({ name: 'trickle', source: anImage(`${evil.host}/trickle:v1`) }));
  await eventually(async () => {
    const { status } = await kubectl.get('bundle', 'trickle');
    expect(status).toMatchObject({ phase: 'Unpacking' });
  });
  await kubectl.deleteNamed('bundle', ['trickle']);
});
