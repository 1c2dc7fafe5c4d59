import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import { Field } from './field.ts';

/** The fields of a ClusterServiceVersion that conversion uses; it ignores all others. */
export interface ClusterServiceVersion {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly installModes: readonly InstallMode[];
  /** Empty for any version. */
  readonly minKubeVersion: string;
  readonly ownedCrds: readonly CrdDescription[];
  readonly requiredCrds: readonly CrdDescription[];
  /** Other required kinds, aggregated and native. */
  readonly requiredApis: readonly RequiredApi[];
  readonly ownedApiServices: readonly OwnedApiService[];
  readonly webhookDefinitions: readonly WebhookDefinition[];
  readonly deployments: readonly StrategyDeployment[];
  readonly permissions: readonly StrategyPermissions[];
  readonly clusterPermissions: readonly StrategyPermissions[];
}

interface InstallMode {
  readonly type: string;
  readonly supported: boolean;
}

export interface StrategyDeployment {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** spec.template.metadata.annotations */
  readonly podAnnotations: Readonly<Record<string, string>>;
  /** spec.template.spec.serviceAccountName; empty for `default`. */
  readonly serviceAccountName: string;
  /** As written. */
  readonly spec: JsonObject | undefined;
}

export interface StrategyPermissions {
  /** As written; empty for `default`. */
  readonly serviceAccountName: string;
  /** Undefined when the entry has no list of rules. */
  readonly rules: readonly PolicyRule[] | undefined;
}

export interface PolicyRule {
  readonly verbs: readonly string[] | undefined;
  readonly apiGroups: readonly string[] | undefined;
  readonly resources: readonly string[] | undefined;
  readonly resourceNames: readonly string[] | undefined;
  readonly nonResourceURLs: readonly string[] | undefined;
  readonly asWritten: JsonValue;
}

/**
 * Reads a ClusterServiceVersion; an empty one for a bundle without any.
 * @throws TerminalError when a used field has another type.
 */
export function readClusterServiceVersion(
  object: KubernetesObject | undefined,
): ClusterServiceVersion {
  const csv = new Field(object as JsonObject | undefined, '');
  const metadata = csv.get('metadata');
  const spec = csv.get('spec');
  const strategy = spec.get('install').get('spec');
  const definitions = spec.get('customresourcedefinitions');
  const apiServices = spec.get('apiservicedefinitions');
  return {
    name: metadata.get('name').string(),
    annotations: metadata.get('annotations').stringMap(),
    installModes: items(spec.get('installModes')).map(readInstallMode),
    minKubeVersion: spec.get('minKubeVersion').string(),
    ownedCrds: items(definitions.get('owned')).map(readCrdDescription),
    requiredCrds: items(definitions.get('required')).map(readCrdDescription),
    requiredApis: [...items(apiServices.get('required')), ...items(spec.get('nativeAPIs'))].map(
      readRequiredApi,
    ),
    ownedApiServices: items(apiServices.get('owned')).map(readOwnedApiService),
    webhookDefinitions: items(spec.get('webhookdefinitions')).map(readWebhookDefinition),
    deployments: items(strategy.get('deployments')).map(readDeployment),
    permissions: items(strategy.get('permissions')).map(readPermissions),
    clusterPermissions: items(strategy.get('clusterPermissions')).map(readPermissions),
  };
}

function items(field: Field): readonly Field[] {
  return field.list() ?? [];
}

function readInstallMode(mode: Field): InstallMode {
  return { type: mode.get('type').string(), supported: mode.get('supported').boolean() };
}

function readDeployment(deployment: Field): StrategyDeployment {
  const template = deployment.get('spec').get('template');
  return {
    name: deployment.get('name').string(),
    labels: deployment.get('label').stringMap(),
    podAnnotations: template.get('metadata').get('annotations').stringMap(),
    serviceAccountName: template.get('spec').get('serviceAccountName').string(),
    spec: deployment.get('spec').object(),
  };
}

function readPermissions(permissions: Field): StrategyPermissions {
  return {
    serviceAccountName: permissions.get('serviceAccountName').string(),
    rules: permissions.get('rules').list()?.map(readRule),
  };
}

function readRule(rule: Field): PolicyRule {
  return {
    verbs: rule.get('verbs').strings(),
    apiGroups: rule.get('apiGroups').strings(),
    resources: rule.get('resources').strings(),
    resourceNames: rule.get('resourceNames').strings(),
    nonResourceURLs: rule.get('nonResourceURLs').strings(),
    asWritten: rule.raw ?? {},
  };
}

/** An entry of spec.customresourcedefinitions: an owned or required kind. */
interface CrdDescription {
  /** `<plural>.<group>` */
  readonly name: string;
  readonly version: string;
  readonly kind: string;
}

function readCrdDescription(description: Field): CrdDescription {
  return {
    name: description.get('name').string(),
    version: description.get('version').string(),
    kind: description.get('kind').string(),
  };
}

/** An entry of spec.apiservicedefinitions.required or spec.nativeAPIs: a required kind. */
export interface RequiredApi {
  /** Empty for the core API. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

function readRequiredApi(api: Field): RequiredApi {
  return {
    group: api.get('group').string(),
    version: api.get('version').string(),
    kind: api.get('kind').string(),
  };
}

/** An entry of spec.apiservicedefinitions.owned, with OLM's defaults for absent fields. */
export interface OwnedApiService extends RequiredApi {
  readonly name: string;
  readonly deploymentName: string;
  /** Defaults to 443. */
  readonly containerPort: number;
}

function readOwnedApiService(description: Field): OwnedApiService {
  return {
    ...readRequiredApi(description),
    name: description.get('name').string(),
    deploymentName: description.get('deploymentName').string(),
    containerPort: description.get('containerPort').integer() || defaultPort,
  };
}

/** An entry of spec.webhookdefinitions, with OLM's defaults for absent fields. */
export interface WebhookDefinition {
  readonly type: string;
  readonly generateName: string;
  readonly deploymentName: string;
  /** Port of the Service. Defaults to 443. */
  readonly containerPort: number;
  /** Port of the container, by number or name. Defaults to the containerPort. */
  readonly targetPort: number | string;
  readonly webhookPath: string | undefined;
  readonly conversionCrds: readonly string[];
  /**
   * As written, with their names in admissionregistration.k8s.io/v1: rules, failurePolicy,
   * matchPolicy, objectSelector, sideEffects, timeoutSeconds, admissionReviewVersions,
   * reinvocationPolicy.
   */
  readonly fields: Readonly<Record<string, JsonValue>>;
}

/** Port of Services in OLM, when the CSV names none. */
const defaultPort = 443;

const passedOn = [
  'rules',
  'failurePolicy',
  'matchPolicy',
  'objectSelector',
  'sideEffects',
  'timeoutSeconds',
  'admissionReviewVersions',
  'reinvocationPolicy',
] as const;

function readWebhookDefinition(definition: Field): WebhookDefinition {
  const containerPort = definition.get('containerPort').integer() || defaultPort;
  const fields = passedOn.flatMap((name) => {
    const { raw } = definition.get(name);
    return raw === undefined ? [] : [[name, raw] as const];
  });
  return {
    type: definition.get('type').string(),
    generateName: definition.get('generateName').string(),
    deploymentName: definition.get('deploymentName').string(),
    containerPort,
    targetPort: definition.get('targetPort').integerOrString() || containerPort,
    webhookPath: definition.get('webhookPath').string() || undefined,
    conversionCrds: definition.get('conversionCRDs').strings() ?? [],
    fields: Object.fromEntries(fields),
  };
}
