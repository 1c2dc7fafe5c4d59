import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import { type CrdDescription, readCrdDescription } from './crd-description.ts';
import { Field } from './field.ts';
import { type OwnedApiService, readOwnedApiService } from './owned-api-service.ts';
import { type RequiredApi, readRequiredApi } from './required-api.ts';
import { readWebhookDefinition, type WebhookDefinition } from './webhook-definition.ts';

/** The fields of a ClusterServiceVersion that conversion uses; everything else in it is ignored. */
export interface ClusterServiceVersion {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly installModes: readonly InstallMode[];
  /** Empty where any version will do. */
  readonly minKubeVersion: string;
  readonly ownedCrds: readonly CrdDescription[];
  readonly requiredCrds: readonly CrdDescription[];
  /** Other kinds that it needs, aggregated and native. */
  readonly requiredApis: readonly RequiredApi[];
  readonly ownedApiServices: readonly OwnedApiService[];
  readonly webhookDefinitions: readonly WebhookDefinition[];
  readonly deployments: readonly StrategyDeployment[];
  readonly permissions: readonly StrategyPermissions[];
  readonly clusterPermissions: readonly StrategyPermissions[];
}

export interface InstallMode {
  readonly type: string;
  readonly supported: boolean;
}

export interface StrategyDeployment {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** spec.template.metadata.annotations */
  readonly podAnnotations: Readonly<Record<string, string>>;
  /** spec.template.spec.serviceAccountName; empty is `default`. */
  readonly serviceAccountName: string;
  /** As written. */
  readonly spec: JsonObject | undefined;
}

export interface StrategyPermissions {
  /** As written; empty is `default`. */
  readonly serviceAccountName: string;
  /** Undefined where the entry has no list of rules. */
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
 * Reads a ClusterServiceVersion; a bundle without one reads as an empty one.
 * @throws TerminalError where a field that is used has another type.
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
