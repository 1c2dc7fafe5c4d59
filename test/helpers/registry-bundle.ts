import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { BundleFilesBuilder, defaultLimits } from '../../core/content/index.ts';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import type {
  ClusterServiceVersion,
  OwnedApiService,
  StrategyDeployment,
  WebhookDefinition,
} from '../../provisioners/registry/bundle/cluster-service-version.ts';
import type {
  BundleProblem,
  RegistryBundle,
} from '../../provisioners/registry/bundle/registry-bundle.ts';

/** A tree of files with the given contents; a path that ends in `/` is a directory. */
export function aTree(contents: Readonly<Record<string, string | Uint8Array>>): BundleFiles {
  const builder = new BundleFilesBuilder(defaultLimits);
  for (const [path, content] of Object.entries(contents)) {
    if (path.endsWith('/')) builder.addDirectory(path);
    else builder.addFile(path, typeof content === 'string' ? Buffer.from(content) : content);
  }
  return builder.build();
}

/** A registry+v1 tree: package `pkg`, the CSV, and more files or replaced ones. */
export function aRegistryTree(
  csv: object = aCsvManifest(),
  contents: Readonly<Record<string, string | Uint8Array>> = {},
): BundleFiles {
  return aTree({
    'metadata/annotations.yaml':
      'annotations:\n  operators.operatorframework.io.bundle.package.v1: pkg\n',
    'manifests/csv.yaml': stringifyJson(csv),
    ...contents,
  });
}

/** The manifest of a CSV that converts: `pkg.v1.0.0` with one deployment. */
export function aCsvManifest(spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: 'pkg.v1.0.0', ...metadata },
    spec: { installModes: [{ type: 'AllNamespaces', supported: true }], ...spec },
  };
}

/** What conversion sees of a CSV without any content but the install mode it needs. */
export function aCsv(fields: Partial<ClusterServiceVersion> = {}): ClusterServiceVersion {
  return {
    name: 'pkg.v1.0.0',
    annotations: {},
    installModes: [{ type: 'AllNamespaces', supported: true }],
    minKubeVersion: '',
    ownedCrds: [],
    requiredCrds: [],
    requiredApis: [],
    ownedApiServices: [],
    webhookDefinitions: [],
    deployments: [],
    permissions: [],
    clusterPermissions: [],
    ...fields,
  };
}

export function aRegistryBundle(fields: Partial<RegistryBundle> = {}): RegistryBundle {
  return { packageName: 'pkg', csv: aCsv(), crds: [], others: [], ...fields };
}

export function anObject(
  kind: string,
  metadata: KubernetesObject['metadata'] = { name: 'x' },
): KubernetesObject {
  return { apiVersion: 'v1', kind, metadata };
}

/** The message of the first problem that a validator finds, if it finds one. */
export function messageOf(problems: Iterable<BundleProblem>): string | undefined {
  const [first] = problems;
  return first?.message;
}

/** A validating webhook of deployment `web`, as its CSV's description is read. */
export function aWebhook(fields: Partial<WebhookDefinition> = {}): WebhookDefinition {
  return {
    type: 'ValidatingAdmissionWebhook',
    generateName: 'vpod.example.com',
    deploymentName: 'web',
    containerPort: 443,
    targetPort: 9443,
    webhookPath: '/validate',
    conversionCrds: [],
    fields: { sideEffects: 'None', admissionReviewVersions: ['v1'] },
    ...fields,
  };
}

/** An API that deployment `web` serves: `v1.metrics.example.com`. */
export function anOwnedApiService(fields: Partial<OwnedApiService> = {}): OwnedApiService {
  return {
    name: 'gauges',
    group: 'metrics.example.com',
    version: 'v1',
    kind: 'Gauge',
    deploymentName: 'web',
    containerPort: 443,
    ...fields,
  };
}

/** A bundle whose deployments all have pods labelled `app: <name>`. */
export function aServer(
  csv: Partial<ClusterServiceVersion>,
  names: readonly string[] = ['web'],
  fields: Partial<RegistryBundle> = {},
): RegistryBundle {
  const deployments = names.map((name) =>
    aStrategyDeployment({ name, spec: { selector: { matchLabels: { app: name } } } }),
  );
  return aRegistryBundle({ csv: aCsv({ deployments, ...csv }), ...fields });
}

/** Deployment `web` of a CSV, with the default account. */
export function aStrategyDeployment(fields: Partial<StrategyDeployment> = {}): StrategyDeployment {
  return {
    name: 'web',
    labels: {},
    podAnnotations: {},
    serviceAccountName: '',
    spec: { replicas: 1 },
    ...fields,
  };
}
