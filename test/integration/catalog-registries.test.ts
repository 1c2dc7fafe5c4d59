import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { processRegistryAccess } from '../../cmd/registry-access.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { attachSignature, keyAnnotations, simplePayload } from '../helpers/attach-signature.ts';
import { packageBlobs } from '../helpers/catalog-reconciler-fixture.ts';
import { CatalogReplica } from '../helpers/catalog-replica.ts';
import { eventually } from '../helpers/eventually.ts';
import { installOperatorCrds, removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { pushCatalog } from '../helpers/push-catalog.ts';
import { aTestNamespace } from '../helpers/test-namespace.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const { client, close } = connect({ kubeconfig: plane.kubeconfig, userAgent: 'catalogs-test/1' });
const run = randomBytes(3).toString('hex');
const { registry } = plane;
const shop = { 'shop.json': packageBlobs('shop') };
const newShop = { 'shop.json': packageBlobs('shop', '2.0.0') };

let folder = '';
let systemNamespace = '';
let drop: () => Promise<void>;
let replica: CatalogReplica | undefined;
let created: object[] = [];

beforeAll(async () => {
  await installOperatorCrds(plane.kubeconfig);
  ({ namespace: systemNamespace, drop } = await aTestNamespace(client, 'catalog-registries'));
  folder = await mkdtemp(join(tmpdir(), 'catalog-registries-'));
});

afterAll(async () => {
  await removeOperatorCrds(plane.kubeconfig);
  await drop();
  await close();
  await rm(folder, { recursive: true, force: true });
});

afterEach(async () => {
  await kubectl.delete(created);
  created = [];
  await replica?.stop();
  replica = undefined;
});

/** A process with these flags of `rukpak operators`. */
async function start(flags: object): Promise<CatalogReplica> {
  const given = {
    insecureRegistry: [registry],
    registryCert: [],
    allowSourceAddress: ['127.0.0.0/8'],
    denySourceAddress: [],
    ...flags,
  } as unknown as Parameters<typeof processRegistryAccess>[0];
  const access = await processRegistryAccess(given, 'catalogs-test/1', () => undefined);
  replica = await CatalogReplica.start({
    client,
    registry,
    systemNamespace,
    overrides: { registry: access },
  });
  return replica;
}

async function apply(object: object): Promise<void> {
  created.push(object);
  await kubectl.apply(object);
}

const kinds = [
  {
    kind: 'catalogs.catalogd.operatorframework.io',
    make: (name: string, ref: string): object => ({
      apiVersion: 'catalogd.operatorframework.io/v1alpha1',
      kind: 'Catalog',
      metadata: { name },
      spec: { source: { type: 'image', image: { ref } } },
    }),
    ready: { type: 'Unpacked', status: 'True' },
    /** Why there is no new content. */
    failed: { type: 'Unpacked', status: 'False' },
  },
  {
    kind: 'clustercatalogs.olm.operatorframework.io',
    make: (name: string, ref: string): object => ({
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterCatalog',
      metadata: { name },
      spec: { source: { type: 'Image', image: { ref } } },
    }),
    ready: { type: 'Progressing', status: 'True', message: /^Successfully/ },
    failed: { type: 'Progressing', status: 'True' },
  },
] as const;

async function condition(
  [kind, name]: readonly [string, string],
  { type, status, message = /^/ }: { type: string; status: string; message?: RegExp },
): Promise<void> {
  await eventually(async () => {
    const found = conditionOf(await kubectl.get(kind, name), type);
    expect(found).toMatchObject({ status, message: expect.stringMatching(message) });
  });
}

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Images of `signed/` must have the key's signature. */
async function policyFile(): Promise<string> {
  const data = keys.publicKey.export({ type: 'spki', format: 'pem' });
  const policy = {
    apiVersion: 'policy.sigstore.dev/v1beta1',
    kind: 'ClusterImagePolicy',
    metadata: { name: 'catalogs' },
    spec: {
      images: [{ glob: `${registry}/signed/**` }],
      authorities: [{ name: 'the release key', key: { data } }],
    },
  };
  const file = join(folder, 'policy.yaml');
  await writeFile(file, JSON.stringify(policy));
  return file;
}

/** The reference by digest of a pushed catalog. */
async function signedCatalog(ref: string): Promise<string> {
  const pushed = await pushCatalog(ref, shop);
  const [, digest = ''] = pushed.split('@');
  const repository = ref.slice(registry.length + 1, ref.lastIndexOf(':'));
  const target = { registry, repository, digest };
  const payload = simplePayload(target);
  await attachSignature(target, payload, keyAnnotations(payload, keys.privateKey));
  return pushed;
}

describe.each(kinds)('$kind', ({ kind, make, ready, failed }) => {
  const own = `${run}/${kind.split('.')[0]}`;

  test('names the policy that refuses its image, and serves the content before', async () => {
    const name = 'registries-signed';
    const replica = await start({ imagePolicy: await policyFile() });
    const repository = `${registry}/signed/${own}`;
    await apply(make(name, await signedCatalog(`${repository}:v1`)));
    await condition([kind, name], ready);
    const before = await replica.blobsOf(name);
    expect(before).toHaveLength(3);
    await apply(make(name, await pushCatalog(`${repository}:v2`, newShop)));
    const message = /does not satisfy image policy "catalogs": the image is not signed/;
    await condition([kind, name], { ...failed, message });
    expect(await replica.blobsOf(name)).toEqual(before);
  });

  test('is unpacked from the mirror of a registry that cannot be reached', async () => {
    const name = 'registries-mirrored';
    const pushed = await pushCatalog(`${registry}/mirrors/${own}:v1`, shop);
    const [, digest = ''] = pushed.split('@');
    const registriesConf = join(folder, 'registries.conf');
    const mirror = `location = "${registry}/mirrors"\ninsecure = true`;
    await writeFile(
      registriesConf,
      `[[registry]]\nprefix = "unreachable.invalid/org"\nlocation = "unreachable.invalid/org"\n[[registry.mirror]]\n${mirror}\n`,
    );
    const replica = await start({ registriesConf });
    for (const ref of [
      `unreachable.invalid/org/${own}:v1`,
      `unreachable.invalid/org/${own}@${digest}`,
    ]) {
      await apply(make(name, ref));
      await condition([kind, name], ready);
      expect(await replica.blobsOf(name)).toHaveLength(3);
    }
    const { status } = await kubectl.get(kind, name);
    expect(JSON.stringify(status)).toContain(`unreachable.invalid/org/${own}@${digest}`);
  });
});
