import type { KubernetesObject } from '../../api/meta.ts';
import { installNamespaceOf } from '../../api/v1alpha1/install-namespace.ts';
import { clientOf, digestOf, mapOf } from '../apply/index.ts';
import { ApiError, liveObject, secretResource } from '../platform/kube/index.ts';
import type { ReconcileDependencies } from './dependencies.ts';
import { renderWithOtherSeed } from './render.ts';
import type { BundleDeploymentState, StepContext } from './state.ts';

interface Surroundings {
  readonly dependencies: ReconcileDependencies;
  readonly context: StepContext;
}

/** The target's objects that have values from the seed, as `<Kind>/<namespace>/<name>`. */
export async function generatedObjects(
  { recipe, objects = [] }: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<readonly string[]> {
  if (recipe === undefined) return [];
  const others = await renderWithOtherSeed(recipe, dependencies, context);
  const digests = new Set(others.map((object) => digestOf(object)));
  return objects.filter((object) => !digests.has(digestOf(object))).map(pathOf);
}

/**
 * The target's Secrets that exist with other values under keys whose values are generated: to apply
 * them would replace passwords that are in use.
 */
export async function overwrittenSecrets(
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
    // The apply names this permission with all others that are missing, and changes nothing.
    if (error instanceof ApiError && error.code === 403) return undefined;
    throw error;
  }
}

function isSecret({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === 'v1' && kind === 'Secret';
}

type Values = Readonly<Record<string, unknown>>;

/** In base64, as the API server has them. */
function valuesIn(secret: KubernetesObject): Values {
  const texts = Object.entries(mapOf(secret['stringData'])).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, Buffer.from(text).toString('base64')] as const] : [],
  );
  return { ...mapOf(secret['data']), ...Object.fromEntries(texts) };
}

/** Keys that both have, with other values. */
function differingKeys(wanted: Values, there: Values): readonly string[] {
  return Object.keys(wanted).filter(
    (key) => there[key] !== undefined && there[key] !== wanted[key],
  );
}

function pathOf({ kind, metadata: { namespace, name } }: KubernetesObject): string {
  return [kind, namespace, name].filter(Boolean).join('/');
}
