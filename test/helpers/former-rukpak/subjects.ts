import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleSource, BundleTemplate } from '../../../api/v1alpha1/index.ts';
import { renderBundle } from '../../../cmd/ctl/content/render-content.ts';
import { aConfigMap, aCRD, aDeployment, anImage, aService, aServiceAccount } from '../objects.ts';
import { plainFiles } from '../push-content.ts';
import { pushImage } from '../push-image.ts';
import { aCsvManifest, aRegistryTree } from '../registry-bundle.ts';
import type { FormerContent } from './former-rukpak.ts';

const keep = { annotations: { 'helm.sh/resource-policy': 'keep' } };
const kept = {
  ...aConfigMap('former-kept'),
  metadata: { name: 'former-kept', namespace: 'default', ...keep },
};
const clusterRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'former-app' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
};
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'former-app', namespace: 'default' },
  data: { password: btoa('x') },
};

/** The objects of the plain bundle `former-app` in its versions; the third is for after the upgrade. */
export const versions = {
  1: [aConfigMap('former-app', { version: '1', old: 'x' }), aServiceAccount('former-app')],
  2: [
    aCRD('Former'),
    clusterRole,
    secret,
    kept,
    aConfigMap('former-app', { version: '2', dropped: 'x' }),
    aServiceAccount('former-app'),
    aService('former-app'),
    aDeployment('former-app', { env: [{ name: 'DROPPED', value: 'x' }] }),
  ],
  3: [
    aCRD('Former'),
    clusterRole,
    aConfigMap('former-app', { version: '3' }),
    aService('former-app'),
    aDeployment('former-app'),
  ],
} as const;

export interface Place {
  readonly registry: string;
}

interface Pushed extends Place {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Pushes content under a tag; where it is found by digest. */
export async function pushed({ registry, name, files }: Pushed): Promise<BundleSource> {
  const repository = `e2e/${name}`;
  const { digest } = await pushImage({ registry, repository, tag: 'v1', layers: [{ files }] });
  return anImage(`${registry}/${repository}@${digest}`);
}

/** A template of that class; its metadata is empty. */
export function templateOf(name: string, source: BundleSource): BundleTemplate {
  return { spec: { provisionerClassName: `core-rukpak-io-${name}`, source } };
}

/** Installed and upgraded once, and its tag has moved on since: only the digest is what was installed. */
export async function plainApp({ registry }: Place): Promise<FormerContent> {
  const name = 'former-app';
  const resolvedSource = await pushed({ registry, name, files: plainFiles(versions[2]) });
  await pushed({ registry, name, files: plainFiles([aConfigMap('former-moved')]) });
  const image = { ref: `${registry}/e2e/${name}:v1`, pullSecret: 'former-pull' };
  return {
    name,
    template: templateOf('plain', { type: 'image', image }),
    resolvedSource,
    revisions: [asObjects(versions[1]), asObjects(versions[2])],
  };
}

/** A registry bundle, with the empty fields that RukPak's conversion writes. */
export async function registryApp({ registry }: Place): Promise<FormerContent> {
  const name = 'former-operator';
  const labels = { app: name };
  const template = {
    metadata: { labels },
    spec: {
      serviceAccountName: name,
      containers: [{ name: 'main', image: 'example.invalid/none:1' }],
    },
  };
  const deployments = [
    { name, spec: { replicas: 1, selector: { matchLabels: labels }, template } },
  ];
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const permissions = [{ serviceAccountName: name, rules }];
  const csv = aCsvManifest(
    { install: { strategy: 'deployment', spec: { deployments, clusterPermissions: permissions } } },
    { annotations: { 'operatorframework.io/suggested-namespace': name } },
  );
  const tree = aRegistryTree(csv);
  const files = Object.fromEntries(
    tree.files.entries().map(([path, content]) => [path, Buffer.from(content).toString('utf8')]),
  );
  const resolvedSource = await pushed({ registry, name, files });
  return {
    name,
    template: templateOf('registry', resolvedSource),
    resolvedSource,
    revisions: [renderBundle(tree, { className: 'registry' }).map(withEmptyFields)],
  };
}

function withEmptyFields(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'Deployment') return object;
  const text = JSON.stringify(object)
    .replace('"spec":{"replicas"', '"status":{},"spec":{"strategy":{},"replicas"')
    .replace('"name":"main"', '"resources":{},"name":"main"');
  return JSON.parse(text) as KubernetesObject;
}

/** Of an upload that is lost with RukPak's pod. */
export function uploadApp(): FormerContent {
  return {
    name: 'former-upload',
    template: {
      metadata: { labels: { app: 'former-upload' } },
      ...templateOf('plain', { type: 'upload', upload: {} }),
    },
    resolvedSource: { type: 'upload', upload: {} },
    revisions: [asObjects([aConfigMap('former-upload', { a: '1' })])],
  };
}

/** RukPak died while it upgraded, and has been stuck since. */
export async function stuckApp({ registry }: Place): Promise<FormerContent> {
  const name = 'former-stuck';
  const files = plainFiles([aConfigMap(name, { version: '2' })]);
  const resolvedSource = await pushed({ registry, name, files });
  return {
    name,
    template: templateOf('plain', resolvedSource),
    resolvedSource,
    revisions: [
      asObjects([aConfigMap(name, { version: '1' })]),
      asObjects([aServiceAccount(name)]),
    ],
    releaseStatus: 'pending-upgrade',
    failure: 'ErrorGettingReleaseState',
  };
}

/** A chart in an image, with values as RukPak took them: text. */
export async function helmApp({ registry }: Place): Promise<FormerContent> {
  const name = 'former-chart';
  const files = {
    'Chart.yaml': 'apiVersion: v2\nname: former\nversion: 1.0.0\n',
    'values.yaml': 'color: red\nsize: small\n',
    'templates/settings.yaml':
      'apiVersion: v1\nkind: ConfigMap\n' +
      'metadata: {name: {{ .Release.Name }}, namespace: default}\n' +
      'data: {color: {{ .Values.color }}, size: {{ .Values.size }}}\n',
  };
  const resolvedSource = await pushed({ registry, name, files });
  return {
    name,
    className: 'core-rukpak-io-helm',
    template: templateOf('helm', resolvedSource),
    config: { values: 'color: blue\n' },
    resolvedSource,
    revisions: [asObjects([aConfigMap(name, { color: 'blue', size: 'small' })])],
  };
}

function asObjects(objects: readonly object[]): readonly KubernetesObject[] {
  return objects as readonly KubernetesObject[];
}
