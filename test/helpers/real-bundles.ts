import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import {
  type BundleFiles,
  defaultLimits,
  type JsonObject,
  parseYaml,
  stringifyJson,
} from '../../core/sdk.ts';
import { aTree } from './registry-bundle.ts';
import {
  bothRefusals,
  expectedOf,
  goneDefinitions,
  allNamespacesNeeded as mode,
  type Outcomes,
  type TestedBundle,
} from './tested-bundle.ts';

export interface RealBundle extends TestedBundle {
  /** What else is to be known of it. */
  readonly remark: string;
}

/** Operators as they were published; kept beside the project, not in it. */
const folder = fileURLToPath(new URL('../../../shared/bundles', import.meta.url));

/** What a run without them says, once. */
export const realBundlesAreMissing =
  "real bundles: ../shared/bundles is not there; only the project's own small bundles are tested";

export function realBundlesArePresent(): boolean {
  const present = existsSync(folder);
  // For a run of tests the reporter says so; a benchmark has nothing else to measure.
  if (!present && process.env['VITEST'] === undefined) {
    console.warn('real bundles: ../shared/bundles is not there; nothing is measured');
  }
  return present;
}

export function realBundleDirectory(name: string): string {
  return join(folder, name);
}

/** `<package>/<version>` of all that are there. */
export function realBundleVersions(): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(`${folder}/${name}`).map((version) => `${name}/${version}`));
}

const gone = {
  threescale: goneDefinitions(8, [
    'apimanagers.apps.3scale.net',
    'apis.capabilities.3scale.net',
    'bindings.capabilities.3scale.net',
    'limits.capabilities.3scale.net',
    'mappingrules.capabilities.3scale.net',
  ]),
  apicurio: goneDefinitions(1, ['apicurioregistries.apicur.io']),
  aqua: goneDefinitions(7, [
    'aquacsps.operator.aquasec.com',
    'aquadatabases.operator.aquasec.com',
    'aquaenforcers.operator.aquasec.com',
    'aquagateways.operator.aquasec.com',
    'aquakubeenforcers.operator.aquasec.com',
  ]),
  azure: goneDefinitions(41, [
    'apimgmtapis.azure.microsoft.com',
    'apimservices.azure.microsoft.com',
    'appinsights.azure.microsoft.com',
    'appinsightsapikeys.azure.microsoft.com',
    'azureloadbalancers.azure.microsoft.com',
  ]),
  cockroach: goneDefinitions(1, ['cockroachdbs.charts.helm.k8s.io']),
  ember: goneDefinitions(1, ['embercsis.ember-csi.io']),
  groupSync: goneDefinitions(1, ['groupsyncs.redhatcop.redhat.io']),
} as const;

/**
 * How many objects each becomes, or why it is refused. Derived from the CSVs by hand and by another
 * program in another language, not by running this one.
 */
const outcomes: Readonly<Record<string, Outcomes>> = {
  '3scale-community-operator/0.5.1': {
    without: bothRefusals(mode, gone.threescale),
    O: gone.threescale,
    S: gone.threescale,
  },
  'ack-iam-controller/0.0.10': { without: 10, A: 9 },
  'aerospike-kubernetes-operator/4.0.0': { without: 23, A: 22, O: 22, S: 24, M: 26 },
  'apicurio-registry/0.0.1': {
    without: bothRefusals(mode, gone.apicurio),
    O: gone.apicurio,
    S: gone.apicurio,
  },
  'aqua/6.5.0': { without: bothRefusals(mode, gone.aqua), O: gone.aqua, S: gone.aqua },
  'assisted-service-operator/0.0.1': { without: mode, O: 19, S: 21 },
  'automotive-infra/0.0.3': { without: mode, O: 14 },
  'azure-service-operator/0.37.0': { without: gone.azure, A: gone.azure },
  'bpfman-operator/0.4.1': { without: 26, A: 25 },
  'cert-manager/1.9.1-rc1': { without: 33, A: 32 },
  'clickhouse/0.26.1': { without: 9, A: 8, O: 8, S: 10, M: 12 },
  'cluster-aas-operator/0.0.2': { without: 19, A: 18 },
  'cockroachdb/2.1.1': {
    without: gone.cockroach,
    A: gone.cockroach,
    O: gone.cockroach,
    S: gone.cockroach,
  },
  'codeflare-operator/1.4.0': { without: 14, A: 13 },
  'community-trivy-operator/2.1.1': { without: 8, A: 7, O: 7, S: 7 },
  'community-windows-machine-config-operator/3.0.0': { without: mode, O: 12 },
  'dbaas-operator/0.5.0': { without: 30, A: 29 },
  'debezium-operator/2.4.0': { without: 6, A: 5, O: 5, S: 7, M: 9 },
  'deployment-validation-operator/0.2.2': { without: 7, A: 6, O: 6, S: 8 },
  'dynatrace-operator/0.8.0': { without: 38, A: 37 },
  'edp-keycloak-operator/1.33.0': { without: 114, A: 113, O: 113, S: 115 },
  'eginnovations-operator/0.0.2': { without: 14, A: 13 },
  'ember-csi-community-operator/0.0.1': {
    without: bothRefusals(mode, gone.ember),
    O: gone.ember,
    S: gone.ember,
    M: gone.ember,
  },
  'etcd/0.6.1': { without: 6, A: 5, O: 5, S: 7 },
  'eventing-kogito/1.1.0': { without: 10, A: 9 },
  'flux/0.13.4': { without: 33, A: 32, O: 32, S: 32, M: 32 },
  'gitlab-operator-kubernetes/2.2.3': { without: mode, O: 0 },
  'group-sync-operator/0.0.11': {
    without: bothRefusals(mode, gone.groupSync),
    O: gone.groupSync,
    S: gone.groupSync,
  },
  'infinispan/2.2.1': { without: 13, A: 12, O: 12, S: 14, M: 16 },
  'k8gb/0.11.4': { without: 13, A: 12 },
  'konflux/0.0.4': { without: 62, A: 61 },
  'kuadrant-operator/0.4.0': { without: 13, A: 12 },
  'mercury-operator/1.0.1': { without: 9, A: 8, O: 8, S: 10, M: 12 },
  'ndmspc-operator/0.20250209.0': { without: 11, A: 10 },
  'pelorus-operator/0.0.2': { without: mode, O: 9, S: 11 },
  'percona-postgresql-operator/1.4.0': { without: mode, O: 11, S: 13 },
  'pubsubplus-eventbroker-operator/1.4.0': { without: 8, A: 7, O: 7, S: 9, M: 11 },
  'rabbitmq-messaging-topology-operator/1.18.3/bundle': { without: 34, A: 33, O: 33, S: 35, M: 37 },
  'sap-data-intelligence-observer-operator/1.0.1': { without: 10, A: 9 },
  'service-binding-operator/0.10.0': { without: 20, A: 19, O: 19, S: 21 },
  'sn-operator/0.19.7': { without: 65, A: 64 },
  'sosivio/1.5.0': { without: 8, A: 7 },
  'vault-config-operator/0.8.49': { without: 144, A: 143 },
  'vault-config-operator/0.8.52': { without: 149, A: 148 },
};

/** What others have to bring before a bundle can be installed. */
const required: Readonly<Record<string, readonly string[]>> = {
  'assisted-service-operator/0.0.1': ['hive.openshift.io/v1/ClusterDeployment'],
  'mercury-operator/1.0.1': [
    'kafka.strimzi.io/v1beta2/Kafka',
    'kafka.strimzi.io/v1beta2/KafkaTopic',
    'kafka.strimzi.io/v1beta2/KafkaUser',
    'camel.apache.org/v1/Integration',
  ],
  'rabbitmq-messaging-topology-operator/1.18.3/bundle': ['rabbitmq.com/v1beta1/RabbitmqCluster'],
};

const serviceMonitor = 'monitoring.coreos.com/v1/ServiceMonitor';

const foreign: Readonly<Record<string, readonly string[]>> = {
  'community-windows-machine-config-operator/3.0.0': [
    'monitoring.coreos.com/v1/PrometheusRule',
    serviceMonitor,
  ],
  'vault-config-operator/0.8.49': [serviceMonitor],
  'vault-config-operator/0.8.52': [serviceMonitor],
};

const remarks: Readonly<Record<string, string>> = {
  'ack-iam-controller/0.0.10': 'its sample of kind Role is left out, and an Event says so',
  'dynatrace-operator/0.8.0':
    'a field that no Deployment has, `spec.template.containers`, is left out, and an Event says so',
  'eginnovations-operator/0.0.2':
    'its webhook is asked about every Pod, and until its operator answers, none can be created',
  'gitlab-operator-kubernetes/2.2.3': 'has nothing to install: no deployments, permissions or CRDs',
};

export const realBundles: readonly RealBundle[] = Object.entries(outcomes).map(
  ([name, expected]) => ({
    name,
    ...expectedOf(expected),
    required: required[name] ?? [],
    foreign: foreign[name] ?? [],
    remark: remarks[name] ?? '',
    content: () => loadDirectory(realBundleDirectory(name), defaultLimits),
    directory: () => realBundleDirectory(name),
  }),
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
