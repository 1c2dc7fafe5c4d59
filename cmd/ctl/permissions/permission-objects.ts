import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { gvkOf } from '../../../api/gvk.ts';
import { stringifyJson } from '../../../api/json.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { isDefinition, missingPermissions, neededPermissions } from '../../../core/apply/index.ts';
import { defaultLimits } from '../../../core/content/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import { isNotFound, namespaceResource } from '../../../core/platform/kube/index.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { RegistryFlags } from '../../flags/registry-flags.ts';
import { type CertificatesFlag, certifiedObjects } from '../certificates.ts';
import { type Cluster, withCluster } from '../cluster.ts';
import { loadContent } from '../content/load-content.ts';
import { renderContent } from '../content/render-content.ts';
import {
  type ClusterFlags,
  type ConfigFlags,
  deploymentConfig,
  type InstallNamespaceFlags,
  installNamespaceIn,
  type ServerFlags,
} from '../flags.ts';
import { type DeploymentContent, deploymentContent } from './deployment-content.ts';
import { knownKinds } from './known-kinds.ts';
import {
  customResourceLists,
  type NeededRules,
  neededRules,
  UnknownKinds,
} from './needed-rules.ts';
import { missingRules, scopedRules } from './policy-rules.ts';
import { roleObjects } from './role-objects.ts';

/** Flags of `rukpakctl permissions`. */
export interface PermissionsFlags
  extends ClusterFlags,
    RegistryFlags,
    ServerFlags,
    ConfigFlags,
    CertificatesFlag,
    InstallNamespaceFlags {
  readonly serviceAccount?: ServiceAccountRef;
  readonly existingNamespace: readonly string[];
  readonly missing?: boolean;
  readonly class?: string;
  readonly systemNamespace: string;
  readonly output: 'yaml' | 'json';
}

interface PermissionObjects {
  readonly objects: readonly KubernetesObject[];
  /** Notes for the user about the objects. */
  readonly notes: readonly string[];
}

/** Roles and bindings for a directory or an image. */
export async function permissionsOfContent(
  reference: string,
  flags: PermissionsFlags,
  signal: AbortSignal,
): Promise<PermissionObjects> {
  const account = accountOf(flags, undefined);
  const files = await loadContent(reference, { limits: defaultLimits, registries: flags });
  const config = await deploymentConfig(flags);
  const installNamespace = installNamespaceIn(flags);
  const rendered = await renderContent(files, {
    ...(config === undefined ? {} : { config }),
    ...(flags.class === undefined ? {} : { className: flags.class }),
    ...(installNamespace === undefined ? {} : { installNamespace }),
  });
  const place = installNamespace ?? flags.systemNamespace;
  const objects = certified(rendered, { ...flags, place });
  const needed = await neededByContent(objects, { ...flags, place }, signal);
  const request = { account, label: labelOf(reference), flags, signal };
  if (flags.missing !== true) return printed(needed, request);
  return await withCluster(flags, (cluster) => missing(cluster, needed, request));
}

/** Roles and bindings for the wanted and present objects of a BundleDeployment. */
export async function permissionsOfDeployment(
  name: string,
  flags: PermissionsFlags,
  signal: AbortSignal,
): Promise<PermissionObjects> {
  const { systemNamespace } = flags;
  return await withCluster(flags, async (cluster) => {
    const content = await deploymentContent(cluster, {
      name,
      systemNamespace,
      server: flags,
      signal,
    });
    const place = installNamespaceOf(content.deployment, systemNamespace);
    const found = { ...content, objects: certified(content.objects, { ...flags, place }) };
    const account = accountOf(flags, found.deployment.spec.serviceAccount);
    const { discovery } = cluster;
    const needed = await neededRules({ ...found, discovery, place, signal });
    const left = neededPermissions({ pending: [], superfluous: found.owned });
    const lists = customResourceLists(found.deployment, definitionsOf(found));
    const all = { ...needed, permissions: [...needed.permissions, ...left, ...lists] };
    const existing = await existingOf(cluster, needed.ownNamespaces, signal);
    const existingNamespace = [...flags.existingNamespace, ...existing];
    const request = { account, label: name, flags: { ...flags, existingNamespace }, signal };
    return flags.missing === true ? await missing(cluster, all, request) : printed(all, request);
  });
}

/** Flags, and the namespace of objects that name none: a role elsewhere would grant too much. */
type PlacedFlags = PermissionsFlags & { readonly place: string };

/** Adds the objects that core makes for certificates. */
function certified(
  objects: readonly KubernetesObject[],
  { certificates: provider, place }: PlacedFlags,
): readonly KubernetesObject[] {
  return certifiedObjects(objects, { provider, systemNamespace: place });
}

function definitionsOf({ objects, owned }: DeploymentContent): readonly string[] {
  const names = [
    ...objects.filter((object) => isDefinition(gvkOf(object))).map(({ metadata }) => metadata.name),
    ...owned.filter(({ resource }) => isDefinition(resource)).map(({ key }) => key.name),
  ];
  return [...new Set(names.filter((name) => name !== undefined))];
}

function accountOf(
  { serviceAccount }: PermissionsFlags,
  own: ServiceAccountRef | undefined,
): ServiceAccountRef {
  const account = serviceAccount ?? own;
  if (account !== undefined) return account;
  throw new TerminalError(
    '--service-account NAMESPACE/NAME is required for a directory or image, and for a BundleDeployment without spec.serviceAccount',
  );
}

/** Works without a cluster, unless a kind is unknown. */
async function neededByContent(
  objects: readonly KubernetesObject[],
  flags: PlacedFlags,
  signal: AbortSignal,
): Promise<NeededRules> {
  const request = { objects, place: flags.place, signal };
  try {
    return await neededRules({ ...request, discovery: knownKinds() });
  } catch (error) {
    if (!(error instanceof UnknownKinds)) throw error;
    return await withCluster(flags, ({ discovery }) =>
      neededRules({ ...request, discovery: knownKinds(discovery) }),
    ).catch((second: unknown) => {
      throw second instanceof UnknownKinds ? second : error;
    });
  }
}

interface PrintRequest {
  readonly account: ServiceAccountRef;
  readonly label: string;
  readonly flags: Pick<PermissionsFlags, 'existingNamespace'>;
  readonly signal: AbortSignal;
}

function printed(needed: NeededRules, { account, label, flags }: PrintRequest): PermissionObjects {
  const { rules, notes } = scopedRules(needed, flags.existingNamespace);
  return { objects: roleObjects(rules, { account, label }), notes };
}

async function missing(
  { client }: Cluster,
  needed: NeededRules,
  { account, label, flags, signal }: PrintRequest,
): Promise<PermissionObjects> {
  const identity = client.impersonate(account);
  const permissions = await missingPermissions(identity, needed.permissions, signal);
  const escalation = await missingRules(identity, needed.escalation, signal);
  const { rules, notes } = scopedRules(
    { ...needed, permissions, escalation },
    flags.existingNamespace,
  );
  if (rules.length === 0) return { objects: [], notes: ['nothing is missing'] };
  // An own name for each set: permissions that were missing before and were granted then must stay
  // granted.
  const objects = roleObjects(rules, { account, label: `${label}:${digestOf(rules)}` });
  return { objects, notes };
}

function digestOf(value: object): string {
  return createHash('sha256').update(stringifyJson(value)).digest('hex').slice(0, 8);
}

async function existingOf(
  { client }: Cluster,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const existing: string[] = [];
  for (const name of namespaces) {
    try {
      await client.get(namespaceResource, { name }, signal);
      existing.push(name);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return existing;
}

/** The part of a path or image reference for a name. */
function labelOf(reference: string): string {
  const image = basename(reference).replace(/[:@].*$/, '');
  const last = /^[./~]/.test(reference) ? basename(resolve(reference)) : image;
  return last.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, '-');
}
