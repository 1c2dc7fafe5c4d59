import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BundleFiles, type JsonObject, parseYaml, stringifyJson } from '../../core/sdk.ts';
import { aTree } from './registry-bundle.ts';

export interface RealBundle {
  /** `<package>/<version>`, and the folder in it where the bundle begins deeper. */
  readonly name: string;
  /** How many objects it becomes, or why it is refused. */
  readonly outcome: number | string;
}

/** Operators as they were published; kept beside the project, not in it. */
const folder = fileURLToPath(new URL('../../../shared/bundles', import.meta.url));

/** Whether they are there; says so where they are not. */
export function realBundlesArePresent(): boolean {
  const present = existsSync(folder);
  if (!present) console.warn('real bundles are not here: their tests are skipped');
  return present;
}

const prefix = 'convert registry+v1 bundle to plain+v0 bundle: ';
const mode = `${prefix}AllNamespace install mode must be enabled`;
const webhooks = `${prefix}webhookDefinitions are not supported`;

export function realBundleDirectory(name: string): string {
  return join(folder, name);
}

/** `<package>/<version>` of all that are there. */
export function realBundleVersions(): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(`${folder}/${name}`).map((version) => `${name}/${version}`));
}

/**
 * How many objects each becomes, or why it is refused. Derived from the CSVs by hand and by another
 * program in another language, not by running this one.
 */
const outcomes: Readonly<Record<string, number | string>> = {
  '3scale-community-operator/0.5.1': mode,
  'ack-iam-controller/0.0.10': 11,
  'aerospike-kubernetes-operator/4.0.0': webhooks,
  'apicurio-registry/0.0.1': mode,
  'aqua/6.5.0': mode,
  'assisted-service-operator/0.0.1': mode,
  'automotive-infra/0.0.3': mode,
  'azure-service-operator/0.37.0': 49,
  'bpfman-operator/0.4.1': 26,
  'cert-manager/1.9.1-rc1': webhooks,
  'clickhouse/0.26.1': 9,
  'cluster-aas-operator/0.0.2': webhooks,
  'cockroachdb/2.1.1': 8,
  'codeflare-operator/1.4.0': webhooks,
  'community-trivy-operator/2.1.1': 8,
  'community-windows-machine-config-operator/3.0.0': mode,
  'dbaas-operator/0.5.0': webhooks,
  'debezium-operator/2.4.0': 6,
  'deployment-validation-operator/0.2.2': 7,
  'dynatrace-operator/0.8.0': webhooks,
  'edp-keycloak-operator/1.33.0': webhooks,
  'eginnovations-operator/0.0.2': webhooks,
  'ember-csi-community-operator/0.0.1': mode,
  'etcd/0.6.1': 6,
  'eventing-kogito/1.1.0': 10,
  'flux/0.13.4': 33,
  'gitlab-operator-kubernetes/2.2.3': mode,
  'group-sync-operator/0.0.11': mode,
  'infinispan/2.2.1': 13,
  'k8gb/0.11.4': 13,
  'konflux/0.0.4': 62,
  'kuadrant-operator/0.4.0': 13,
  'mercury-operator/1.0.1': 9,
  'ndmspc-operator/0.20250209.0': 11,
  'pelorus-operator/0.0.2': mode,
  'percona-postgresql-operator/1.4.0': mode,
  'pubsubplus-eventbroker-operator/1.4.0': 8,
  'rabbitmq-messaging-topology-operator/1.18.3/bundle': webhooks,
  'sap-data-intelligence-observer-operator/1.0.1': 10,
  'service-binding-operator/0.10.0': webhooks,
  'sn-operator/0.19.7': webhooks,
  'sosivio/1.5.0': 8,
  'vault-config-operator/0.8.49': webhooks,
  'vault-config-operator/0.8.52': webhooks,
};

export const realBundles: readonly RealBundle[] = Object.entries(outcomes).map(
  ([name, outcome]) => ({ name, outcome }),
);

/** The same content without the one thing that keeps some bundles from being converted. */
export function withoutWebhooks({ files }: BundleFiles): BundleFiles {
  const contents = [...files].map(([path, content]) => {
    const text = Buffer.from(content).toString('utf8');
    return [path, text.includes('webhookdefinitions:') ? withoutDefinitions(text) : content];
  });
  return aTree(Object.fromEntries(contents));
}

function withoutDefinitions(manifest: string): string {
  const { spec, ...csv } = parseYaml(manifest) as JsonObject;
  const { webhookdefinitions: _, ...rest } = spec as JsonObject;
  return stringifyJson({ ...csv, spec: rest });
}
