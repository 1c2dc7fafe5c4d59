import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { clientOf, digestOf } from '../../apply/index.ts';
import type { Blocked } from '../../contracts/applier.ts';
import { TerminalError } from '../../errors.ts';
import { isForbidden, liveObject, secretResource } from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  longestWait,
  type PhaseContext,
  type Surroundings,
} from '../phase.ts';
import { notInstalled } from '../status.ts';
import {
  differs,
  isSecret,
  overwrites,
  redraws,
  type SecretVersions,
  secretsDigest,
  tokenOf,
} from './generated-values.ts';
import { loadActive, loadLastApplied } from './load-objects.ts';
import { renderWithOtherSeed } from './render.ts';

const namedObjects = 5;

/**
 * Blocks a deployment whose generated values would change: because Secret rukpak-seed was lost or
 * replaced, because Secrets exist whose values come from another seed, or because new content draws
 * other values from the same one. Core keeps the installed objects in place. An annotation of the
 * BundleDeployment identifies the seed, because a restore may lose the status.
 */
export async function keepGenerated(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const identity = state.recipe?.facts.seedIdentity;
  if (identity === undefined || state.kept === true) return {};
  const { annotations = {} } = state.deployment.metadata;
  const remembered = annotations[annotation.seed] ?? state.status.applied?.seed;
  const surroundings = { dependencies, context };
  if (remembered === identity) return await keepDrawn(state, surroundings);
  const isAccepted = annotations[annotation.acceptNewSeed] === identity;
  const changed = isAccepted ? [] : await changedValues(state, remembered, surroundings);
  if (changed.length > 0) {
    const message = messageOf(state.deployment, { changed, identity, remembered }, dependencies);
    // The restore of the Secret sends no event.
    dependencies.facts.renew();
    context.wakeAfter(longestWait);
    return await block(state, { reason: progressReason.seedChanged, message }, surroundings);
  }
  await context.live.annotate({ [annotation.seed]: identity });
  return {};
}

/**
 * A random function that is added before others shifts what those draw: a chart's next version, a value
 * that enables a part of it, or another version of Helm's engine would replace passwords that databases
 * keep. The earlier Bundle of a rollback brings its own values back.
 */
async function keepDrawn(state: BundleDeploymentState, surroundings: Surroundings): Promise<Found> {
  const { recipe, objects = [], status, content } = state;
  if (recipe === undefined || isRollback(state)) return {};
  const secrets = secretsDigest(recipe, objects);
  if (secrets === status.applied?.secrets) return {};
  const token = tokenOf(recipe, secrets);
  const message = await redrawnMessage(state, token, surroundings);
  if (message === undefined) return {};
  const blocked = { reason: progressReason.generatedValuesChanged, message };
  // The digest of a plan is that of the new content.
  if (content !== undefined || !status.activeBundle) {
    return await block(state, blocked, surroundings);
  }
  return { blocked, ...((await loadInstalled(state, blocked, surroundings)) ?? { done: true }) };
}

function isRollback({ target, bundle, status }: BundleDeploymentState): boolean {
  return target !== bundle && target?.metadata.name === status.rollback?.to;
}

/** Undefined when nothing in use changes, or somebody has accepted that. */
async function redrawnMessage(
  state: BundleDeploymentState,
  token: string,
  surroundings: Surroundings,
): Promise<string | undefined> {
  const { metadata, spec } = state.deployment;
  const { name, annotations = {} } = metadata;
  if (annotations[annotation.acceptNewSeed] === token) return undefined;
  const changed = await secretsThat(redraws, state, surroundings);
  if (changed.length === 0) return undefined;
  return (
    `BundleDeployment "${name}" would get other generated values in ${shortList(changed, namedObjects)}, from the same seed, because its template, its config or the code of class ${spec.provisionerClassName} has changed: core does not overwrite them. ` +
    `Set the present values in spec.config, or accept new values: ${acceptCommand(name, token)}`
  );
}

/** The active Bundle's objects, as far as they have the generated values that are installed. */
async function loadInstalled(
  state: BundleDeploymentState,
  { message }: Blocked,
  { dependencies, context }: Surroundings,
): Promise<Found | undefined> {
  const waiting = { ...state, failure: new TerminalError(message) };
  const found = await loadActive(waiting, dependencies, context);
  if (found?.recipe === undefined || found.kept === true) return found;
  const { recipe, objects = [] } = found;
  return secretsDigest(recipe, objects) === state.status.applied?.secrets ? found : undefined;
}

function acceptCommand(name: string | undefined, token: string): string {
  return `kubectl annotate --overwrite bundledeployment ${name} ${annotation.acceptNewSeed}=${token}`;
}

async function changedValues(
  state: BundleDeploymentState,
  remembered: string | undefined,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  return remembered === undefined
    ? await secretsThat(overwrites, state, surroundings)
    : await generatedObjects(state, surroundings);
}

async function block(
  state: BundleDeploymentState,
  blocked: Blocked,
  { dependencies, context }: Surroundings,
): Promise<Found> {
  const { clock, reportHealth } = dependencies;
  if ((state.status.activeBundle ?? '') === '') {
    const status = notInstalled(state.status, { ...blocked, reportHealth }, clock);
    return { blocked, status, done: true };
  }
  try {
    const kept = await loadLastApplied(state, dependencies, context);
    return { blocked, ...(kept ?? { done: true }) };
  } catch (error) {
    return { blocked, error };
  }
}

interface ChangedValues {
  readonly changed: readonly string[];
  readonly identity: string;
  readonly remembered: string | undefined;
}

function messageOf(
  { metadata: { name } }: BundleDeployment,
  { changed, identity, remembered }: ChangedValues,
  { systemNamespace }: Pick<ReconcileDependencies, 'systemNamespace'>,
): string {
  const objects = shortList(changed, namedObjects);
  const seed = `Secret "rukpak-seed" in namespace "${systemNamespace}"`;
  const accept = `from a backup, or accept new values: ${acceptCommand(name, identity)}`;
  return remembered === undefined
    ? `${objects} of BundleDeployment "${name}" exist, and their generated values differ from those of the current seed: core does not overwrite them. ` +
        `Set the present values in spec.config, restore the ${seed} ${accept}`
    : `${seed} has seed ${identity}, and BundleDeployment "${name}" was rendered with seed ${remembered}: core does not change the generated values of ${objects}. ` +
        `Restore that Secret ${accept}`;
}

/** The target's objects with values from the seed, as `<Kind>/<namespace>/<name>`. */
async function generatedObjects(
  { recipe, objects = [] }: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<readonly string[]> {
  if (recipe === undefined) return [];
  const others = await renderWithOtherSeed(recipe, dependencies, context);
  const digests = new Set(others.map((object) => digestOf(object)));
  return objects.filter((object) => !digests.has(digestOf(object))).map(pathOf);
}

/**
 * The target's Secrets that exist, and whose values a change replaces: passwords may be in use. Renders
 * the target with another seed only if a value differs at all.
 */
async function secretsThat(
  change: (versions: SecretVersions) => boolean,
  state: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<readonly string[]> {
  const { recipe, objects = [] } = state;
  const found: Omit<SecretVersions, 'other'>[] = [];
  for (const wanted of objects.filter(isSecret)) {
    const live = await liveSecret(wanted, state, { dependencies, context });
    if (live !== undefined && differs({ wanted, live })) found.push({ wanted, live });
  }
  if (found.length === 0 || recipe === undefined) return [];
  const others = await renderWithOtherSeed(recipe, dependencies, context);
  const byPath = new Map(others.filter(isSecret).map((object) => [pathOf(object), object]));
  return found
    .filter((each) => change({ ...each, other: byPath.get(pathOf(each.wanted)) }))
    .map(({ wanted }) => pathOf(wanted));
}

async function liveSecret(
  { metadata }: KubernetesObject,
  { deployment }: BundleDeploymentState,
  { dependencies: { client, systemNamespace }, context: { signal } }: Surroundings,
): Promise<KubernetesObject | undefined> {
  const namespace = metadata.namespace || installNamespaceOf(deployment, systemNamespace);
  const target = { resource: secretResource, key: { namespace, name: metadata.name ?? '' } };
  try {
    return await liveObject(clientOf(deployment, client), target, signal);
  } catch (error) {
    // The apply reports this missing permission with all others, and changes nothing.
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

function pathOf({ kind, metadata: { namespace, name } }: KubernetesObject): string {
  return [kind, namespace, name].filter(Boolean).join('/');
}
