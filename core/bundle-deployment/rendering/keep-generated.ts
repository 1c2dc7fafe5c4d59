import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { clientOf, digestOf } from '../../apply/index.ts';
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
import { loadLastApplied } from './load-objects.ts';
import { renderWithOtherSeed } from './render.ts';

const namedObjects = 5;

/**
 * Blocks a deployment whose generated values would change: because Secret rukpak-seed was lost or
 * replaced, or because Secrets exist whose values come from another seed. Core keeps the installed
 * objects in place. An annotation of the BundleDeployment identifies the seed, because a restore
 * may lose the status.
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
  if (remembered === identity) return {};
  const surroundings = { dependencies, context };
  const isAccepted = annotations[annotation.acceptNewSeed] === identity;
  const changed = isAccepted ? [] : await changedValues(state, remembered, surroundings);
  if (changed.length > 0) {
    const message = messageOf(state.deployment, { changed, identity, remembered }, dependencies);
    return await block(state, message, surroundings);
  }
  await context.live.annotate({ [annotation.seed]: identity });
  return {};
}

async function changedValues(
  state: BundleDeploymentState,
  remembered: string | undefined,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  return remembered === undefined
    ? await overwrittenSecrets(state, surroundings)
    : await generatedObjects(state, surroundings);
}

async function block(
  state: BundleDeploymentState,
  message: string,
  { dependencies, context }: Surroundings,
): Promise<Found> {
  const { clock, reportHealth, facts } = dependencies;
  const blocked = { reason: progressReason.seedChanged, message };
  // The restore of the Secret sends no event.
  facts.renew();
  context.wakeAfter(longestWait);
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
  const what =
    remembered === undefined
      ? `${objects} of BundleDeployment "${name}" exist, and their generated values differ from those of the current seed: core does not overwrite them`
      : `${seed} has seed ${identity}, and BundleDeployment "${name}" was rendered with seed ${remembered}: core does not change the generated values of ${objects}`;
  return (
    `${what}. Restore ${remembered === undefined ? `the ${seed}` : 'that Secret'} from a backup, or accept new values: ` +
    `kubectl annotate --overwrite bundledeployment ${name} ${annotation.acceptNewSeed}=${identity}`
  );
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
 * The target's Secrets that exist with other generated values: applying them would replace
 * passwords that are in use.
 */
async function overwrittenSecrets(
  state: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<readonly string[]> {
  const { recipe, objects = [] } = state;
  const found: { readonly wanted: KubernetesObject; readonly keys: readonly string[] }[] = [];
  for (const wanted of objects.filter(isSecret)) {
    const live = await liveSecret(wanted, state, { dependencies, context });
    const keys = live === undefined ? [] : differingKeys(valuesIn(wanted), valuesIn(live));
    if (keys.length > 0) found.push({ wanted, keys });
  }
  if (found.length === 0 || recipe === undefined) return [];
  const others = await renderWithOtherSeed(recipe, dependencies, context);
  const byPath = new Map(others.filter(isSecret).map((object) => [pathOf(object), object]));
  return found
    .filter(({ wanted, keys }) => {
      const other = byPath.get(pathOf(wanted));
      const generated = differingKeys(valuesIn(wanted), other === undefined ? {} : valuesIn(other));
      return keys.some((key) => other === undefined || generated.includes(key));
    })
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

function isSecret({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === 'v1' && kind === 'Secret';
}

type Values = Readonly<Record<string, unknown>>;

/** In base64, as the API server stores them. */
function valuesIn(secret: KubernetesObject): Values {
  const texts = Object.entries(mapOf(secret['stringData'])).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, Buffer.from(text).toString('base64')] as const] : [],
  );
  return { ...mapOf(secret['data']), ...Object.fromEntries(texts) };
}

/** Keys that both have, with different values. */
function differingKeys(wanted: Values, there: Values): readonly string[] {
  return Object.keys(wanted).filter(
    (key) => there[key] !== undefined && there[key] !== wanted[key],
  );
}

function pathOf({ kind, metadata: { namespace, name } }: KubernetesObject): string {
  return [kind, namespace, name].filter(Boolean).join('/');
}
