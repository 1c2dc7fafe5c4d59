import { readdir } from 'node:fs/promises';
import type { KubernetesObject } from '../../../../api/meta.ts';
import type { Bundle, BundleDeployment } from '../../../../api/v1alpha1/index.ts';
import { label } from '../../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../../api/v1alpha1/resources.ts';
import type { KubeClient } from '../../../../core/platform/kube/index.ts';
import { conditionOf } from '../../../helpers/kubectl.ts';
import { installedObjects } from '../../scale/installed.ts';
import { appResources } from '../../scale/kinds.ts';
import type { ForeignObjects } from './foreign.ts';
import type { App, Workload } from './workload.ts';

export interface Observed {
  readonly client: KubeClient;
  readonly workload: Workload;
  readonly foreign: ForeignObjects;
  /** The folder of the stored archives. */
  readonly archives: string;
}

export interface Differences {
  /** Missing, but may still appear. */
  readonly missing: readonly string[];
  /** Permanent violations: something was done twice, or to foreign objects. */
  readonly wrong: readonly string[];
}

/** Differences of cluster and disk from the wanted state: lost, duplicate and left-over objects. */
export async function differences(observed: Observed): Promise<Differences> {
  const { client, workload, foreign, archives } = observed;
  const apps = workload.apps.filter(({ installed }) => installed);
  const names = new Set(apps.map(({ name }) => name));
  const missing: string[] = [];
  const wrong: string[] = [];
  for (const resource of appResources) {
    const objects = await installedObjects(client, resource);
    missing.push(...leftOver(objects, names));
    const byName = new Map(objects.map((object) => [object.metadata.name ?? '', object]));
    for (const app of apps) {
      const problem = objectProblem(byName.get(app.name), app);
      if (problem !== undefined) missing.push(`${resource.kind} ${app.name} ${problem}`);
      if (isChangedTwice(byName.get(app.name), app)) {
        wrong.push(`Deployment ${app.name} was changed more often than its app`);
      }
    }
  }
  missing.push(...(await deploymentProblems(client, apps)));
  missing.push(...(await bundleProblems(client, { apps, archives })));
  for (const app of workload.apps) {
    const runs = workload.runsSeen(app);
    if (runs > app.runs) wrong.push(`the hook of ${app.name} ran ${runs} times for ${app.runs}`);
    if (runs < app.runs) missing.push(`the hook of ${app.name} ran ${runs} times for ${app.runs}`);
  }
  wrong.push(...(await foreign.violations()));
  return { missing, wrong };
}

function leftOver(objects: readonly KubernetesObject[], names: ReadonlySet<string>): string[] {
  return objects
    .filter(({ metadata }) => !names.has(metadata.name ?? ''))
    .map(({ kind, metadata }) => `${kind} ${metadata.name} is left over`);
}

interface Content extends KubernetesObject {
  readonly data?: { readonly version?: string };
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly env?: readonly { readonly value?: string }[] }[];
      };
    };
  };
}

function objectProblem(object: Content | undefined, { name, contents }: App): string | undefined {
  if (object === undefined) return 'is missing';
  if (object.metadata.labels?.[label.ownerName] !== name) return 'is not its';
  const version = versionOf(object);
  if (version === undefined || contents.includes(Number(version))) return undefined;
  return `is of version ${version}, not ${contents.join(' or ')}`;
}

/** Two of the four kinds differ between versions. */
function versionOf({ kind, data, spec }: Content): string | undefined {
  if (kind === 'ConfigMap') return data?.version;
  return spec?.template?.spec?.containers?.[0]?.env?.[0]?.value;
}

function isChangedTwice(object: KubernetesObject | undefined, { generation }: App): boolean {
  return object?.kind === 'Deployment' && (object.metadata.generation ?? 0) > generation;
}

async function deploymentProblems(client: KubeClient, apps: readonly App[]): Promise<string[]> {
  const { items } = await client.list(bundleDeploymentResource);
  const deployments = new Map(items.map((item) => [item.metadata.name, item as BundleDeployment]));
  const problems = apps.flatMap(({ name }) => {
    const problem = progressOf(deployments.get(name));
    deployments.delete(name);
    return problem === undefined ? [] : [`BundleDeployment ${name} ${problem}`];
  });
  return [
    ...problems,
    ...[...deployments.keys()].map((name) => `BundleDeployment ${name} is left over`),
  ];
}

function progressOf(deployment: BundleDeployment | undefined): string | undefined {
  if (deployment === undefined) return 'is missing';
  const { metadata, status } = deployment;
  if (status?.observedGeneration !== metadata.generation)
    return 'was not looked at since its change';
  const lacking = ['Installed', 'Healthy'].find(
    (type) => conditionOf(deployment, type)?.status !== 'True',
  );
  if (lacking === undefined) return undefined;
  return `is not ${lacking}: ${conditionOf(deployment, lacking)?.message ?? ''}`;
}

async function bundleProblems(
  client: KubeClient,
  { apps, archives }: { readonly apps: readonly App[]; readonly archives: string },
): Promise<string[]> {
  const bundles = (await client.list(bundleResource)).items as readonly Bundle[];
  const problems = apps.flatMap(({ name, version }) => {
    const own = bundles.filter(({ metadata }) => metadata.labels?.[label.ownerName] === name);
    const [bundle] = own;
    if (bundle === undefined || own.length > 1) return [`app ${name} has ${own.length} Bundles`];
    const { status, spec } = bundle;
    const isRight = spec.source.image?.ref.endsWith(`:v${version}`) === true;
    return isRight && status?.phase === 'Unpacked' ? [] : [`Bundle of ${name} is not unpacked`];
  });
  if (bundles.length > apps.length)
    problems.push(`${bundles.length} Bundles of ${apps.length} apps`);
  const wanted = bundles.map(({ metadata }) => `${metadata.name}.tgz`).toSorted();
  // Beside them is the folder `kept`.
  const found = (await readdir(archives)).filter((file) => file.endsWith('.tgz')).toSorted();
  if (wanted.join() !== found.join())
    problems.push(`${found.length} archives of ${wanted.length} Bundles`);
  return problems;
}
