import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { ObjectKey } from '../../platform/kube/index.ts';
import { describeObject, objectPath } from '../objects/object-id.ts';
import { adoptedPaths } from './ownership.ts';

/** A refused object, for the message. */
export interface RefusedObject {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly because: string;
  /** The other deployment that owns it. */
  readonly deployment?: string | undefined;
  /** Whether taking it requires spec.adoption Always. */
  readonly needsAlways?: boolean;
}

const listedRefusals = 10;
const listedDeployments = 3;

/** RukPak's message up to its last colon, then the owner of each object and the remedy. */
export function ownershipMessage(
  refused: readonly RefusedObject[],
  owner: BundleDeployment,
  operation: 'install' | 'update',
): string {
  const listed = refused.slice(0, listedRefusals);
  const objects = listed.map(
    ({ kind, key, because }) =>
      `${describeObject(kind, key)} exists and cannot be imported into the current release: it ${because}`,
  );
  const more = refused.length - listed.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  const them = refused.length === 1 ? 'it' : 'them';
  return (
    'rendered manifests contain a resource that already exists. ' +
    `Unable to continue with ${operation}: ${objects.join('; ')}${rest}. ` +
    `Delete or rename ${them}, or let this BundleDeployment adopt ${them}: ` +
    [transferCommands(refused, owner), adopt(refused, owner)].filter(Boolean).join('; ')
  );
}

/** Commands for objects of other deployments, which must transfer them. */
function transferCommands(refused: readonly RefusedObject[], owner: BundleDeployment): string {
  const holders = [...new Set(refused.flatMap(({ deployment }) => deployment ?? []))];
  const commands = holders
    .slice(0, listedDeployments)
    .map(
      (name) =>
        `kubectl annotate bundledeployment ${name} ${annotation.handOver}=${owner.metadata.name ?? ''}`,
    );
  return commands.join('; ');
}

function adopt(refused: readonly RefusedObject[], owner: BundleDeployment): string {
  const strangers = refused.filter(({ deployment }) => deployment === undefined);
  if (strangers.length === 0) return '';
  const levels = strangers.some(({ needsAlways }) => needsAlways) ? 'Always' : 'Unowned or Always';
  if (owner.spec.adoption === 'Never') return `set spec.adoption to ${levels} in place of Never`;
  const paths = strangers.map(({ kind, key }) => objectPath(kind, key));
  return `set spec.adoption to ${levels}, or ${adoptCommand(owner, paths)}`;
}

/**
 * Makes the deployment adopt these objects (`Kind/namespace/name`) besides those that it may adopt
 * already.
 */
export function adoptCommand(owner: BundleDeployment, paths: readonly string[]): string {
  const all = [...new Set([...adoptedPaths(owner), ...paths])].join(',');
  const value = shellWord(paths.length > listedRefusals ? '*' : all);
  return `kubectl annotate --overwrite bundledeployment ${owner.metadata.name ?? ''} ${annotation.adopt}=${value}`;
}

/**
 * Quotes for a shell: people copy the command, and others may have written the annotation and the
 * objects' names.
 */
function shellWord(text: string): string {
  return /^[\w./:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
