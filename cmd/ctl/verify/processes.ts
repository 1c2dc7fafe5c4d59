import { z } from 'zod';
import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { computeStatus } from '../../../core/apply/index.ts';
import {
  deploymentResource,
  type KubeClient,
  liveObject,
  type ObjectKey,
  type Resource,
} from '../../../core/platform/kube/index.ts';
import { type Lease, leaseResource } from '../../../core/platform/runtime/index.ts';
import {
  type Check,
  crdNamespace,
  failed,
  ok,
  skipped,
  type VerifyContext,
  warning,
} from './check.ts';
import { overlayOf } from './overlay.ts';

/** Checks the Deployments of the system, their versions, and the leader. */
export async function processChecks({
  cluster,
  signal,
  systemNamespace: namespace,
}: VerifyContext): Promise<readonly Check[]> {
  const read = (resource: Resource, key: ObjectKey) =>
    liveObject(cluster.client, { resource, key }, signal);
  const core = await read(deploymentResource, { namespace, name: 'core' });
  const { isSplit } = overlayOf(core);
  const keys = [
    ...(isSplit ? [{ namespace, name: applying }] : []),
    { namespace, name: 'rukpak-webhooks' },
    { namespace: crdNamespace, name: 'crd-validation-webhook' },
  ];
  const found: (readonly [ObjectKey, KubernetesObject | undefined])[] = [
    [{ namespace, name: 'core' }, core],
  ];
  for (const key of keys) found.push([key, await read(deploymentResource, key)]);
  const leaders = [
    { name: leaseName, process: isSplit ? applying : 'core' },
    ...(isSplit ? [{ name: unpackLease, process: 'core' }] : []),
  ];
  const leases: Check[] = [];
  for (const leader of leaders) {
    const lease = await read(leaseResource, { namespace, name: leader.name });
    leases.push(leaseCheck(lease, { ...leader, isInCluster: core !== undefined }, Date.now()));
  }
  return [
    ...found.map(([key, live]) => deploymentCheck(key, live)),
    ...imageChecks(found.flatMap(([, live]) => live ?? [])),
    ...leases,
  ];
}

/** Pure. */
export function deploymentCheck(
  { namespace, name }: ObjectKey,
  live: KubernetesObject | undefined,
): Check {
  const subject = `Deployment ${namespace}/${name}`;
  if (live === undefined) {
    const message = `no Deployment ${name} in namespace ${namespace}`;
    // Only the other half of core tells of it.
    return name === applying
      ? failed(subject, `${message}: nothing is installed`, 'apply overlay split again')
      : skipped(subject, message);
  }
  const { status, message } = computeStatus(live, Date.now());
  return status === 'Current'
    ? ok(subject, `${message}, ${runImages(live).join(', ')}`)
    : failed(subject, message, `kubectl describe deployment ${name} --namespace ${namespace}`);
}

function runImages({ spec }: KubernetesObject): readonly string[] {
  const containers = listOf(fieldAt(spec, 'template', 'spec', 'containers'));
  return containers.map((container) => stringAt(container, 'image') ?? '');
}

function imageChecks(deployments: readonly KubernetesObject[]): readonly Check[] {
  const images = new Set(deployments.flatMap(runImages));
  if (images.size < 2) return [];
  const message = `the processes are of several: ${[...images].join(', ')}`;
  return [warning('images', message, 'apply one overlay for all of them')];
}

const leaseName = 'core.rukpak.io';
/** The Lease of Deployment `core` in overlay split. */
export const unpackLease = 'unpack.core.rukpak.io';
/** The Deployment of overlay split that installs. */
const applying = 'core-apply';

/** The Lease of a process, which needs none outside the cluster. */
interface Leader {
  readonly name: string;
  readonly process: string;
  readonly isInCluster: boolean;
}

/** `now` is in milliseconds. Pure. */
export function leaseCheck(
  lease: Lease | undefined,
  { name, process, isInCluster }: Leader,
  now: number,
): Check {
  const subject = `Lease ${name}`;
  const fix = `see the log of ${process}: nothing is reconciled without a leader`;
  const problem = (message: string): Check =>
    isInCluster ? failed(subject, message, fix) : skipped(subject, message);
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (lease === undefined)
    return problem(`there is none: ${process} has not run with --leader-elect`);
  if (holderIdentity === '') return problem('no process holds it');
  const age = Math.round((now - Date.parse(renewTime)) / 1000);
  return age > leaseDurationSeconds
    ? problem(`its holder ${holderIdentity} has not renewed it for ${age} s`)
    : ok(subject, `held by ${holderIdentity}, renewed ${Math.max(0, age)} s ago`);
}

/** The version of one program: of Kubernetes, or of an image of this project. */
interface ProgramVersion {
  readonly program: string;
  readonly version: string;
}

const versionSchema = z.object({ gitVersion: z.string() });

const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({ containers: z.array(z.object({ image: z.string().optional() })) }),
    }),
  }),
});

/** Versions of the installation's Deployments, and of the API server. */
export async function serverVersions(
  client: Pick<KubeClient, 'get' | 'request'>,
  { systemNamespace, signal }: { readonly systemNamespace: string; readonly signal: AbortSignal },
): Promise<readonly ProgramVersion[]> {
  const places = [
    ['core', systemNamespace],
    ['rukpak-webhooks', systemNamespace],
    ['crd-validation-webhook', crdNamespace],
  ] as const;
  const versions: ProgramVersion[] = [];
  for (const [program, namespace] of places) {
    const target = { resource: deploymentResource, key: { namespace, name: program } };
    const live = await liveObject(client, target, signal);
    const version =
      live === undefined ? `no Deployment in namespace ${namespace}` : imagesOf(live).join(', ');
    versions.push({ program, version });
  }
  const answer = await client.request({ method: 'GET', path: '/version', signal });
  return [...versions, { program: 'Kubernetes', version: versionSchema.parse(answer).gitVersion }];
}

function imagesOf(live: object): readonly string[] {
  const { containers } = deploymentSchema.parse(live).spec.template.spec;
  return containers.map(({ image = 'no image' }) => image);
}
