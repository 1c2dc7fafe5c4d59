import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  hasInstallNamespace,
  installNamespaceOf,
} from '../../../api/v1alpha1/rules/install-namespace.ts';
import type { LeftOutObject } from '../../contracts/applier.ts';
import { TerminalError } from '../../errors.ts';
import { type Discovery, type Resource } from '../../platform/kube/index.ts';
import { Turns } from '../../platform/turns.ts';
import { shortList } from '../../short-list.ts';
import { isHook } from '../hooks/hook.ts';
import { kindKey, type ResolvedKinds, resolveKinds } from '../kinds/kinds.ts';
import { type DesiredContext, type DesiredObject, desiredObject } from '../objects/desired.ts';
import { missingResource, unknownKind } from '../objects/failures.ts';
import { type GroupKind, objectPath } from '../objects/object-id.ts';
import { failedReason } from '../objects/operation.ts';
import { isDefinition } from '../objects/order.ts';
import { contentProblem } from './content-check.ts';

const listedObjects = 5;
const listedHooks = 10;

/** All objects of a deployment, with the marks of their owner. */
export interface DesiredSet {
  readonly objects: readonly DesiredObject[];
  readonly ids: ReadonlySet<string>;
  /** Each kind once. */
  readonly resources: readonly Resource[];
  /** Kinds of optional objects that the set leaves out, because the cluster does not serve them. */
  readonly omitted: readonly GroupKind[];
  /** Objects that the class has left out, with the namespace that they would have. */
  readonly leftOut: readonly LeftOutObject[];
  /** Whether the cluster served the object's kind when the set was made. */
  readonly isServed: (object: DesiredObject) => boolean;
  /**
   * The resource with which an object could be read when the set was made; undefined when it cannot
   * exist yet.
   */
  readonly presentAs: (object: DesiredObject) => Resource | undefined;
}

interface DesiredSetRequest extends DesiredContext {
  readonly objects: readonly KubernetesObject[];
  readonly leftOut?: readonly LeftOutObject[];
  readonly operation: 'install' | 'upgrade';
  readonly discovery: Discovery;
  /** Refuse objects without a namespace when the deployment names none for them. */
  readonly requireInstallNamespace?: boolean | undefined;
  readonly signal: AbortSignal;
}

/**
 * Resolves the kind of every object and marks them all. Of objects that are listed twice the last
 * counts, as with `kubectl apply`.
 * @throws TerminalError for unknown kinds and invalid names.
 */
export async function desiredSet(request: DesiredSetRequest): Promise<DesiredSet> {
  const { owner, leftOut = [], systemNamespace } = request;
  const { objects, kinds } = await markedObjects(request);
  const byID = new Map(objects.map((desired) => [desired.id, desired]));
  return {
    objects: [...byID.values()],
    ids: new Set(byID.keys()),
    resources: [...kinds.resources.values()],
    omitted: kinds.omitted,
    leftOut: leftOut.map((each) => {
      const namespace = each.namespace || installNamespaceOf(owner, systemNamespace);
      return { ...each, namespace };
    }),
    isServed: ({ object }) => !kinds.fromBundle.has(kindKey(object)),
    presentAs: ({ object }) => kinds.present.get(kindKey(object)),
  };
}

interface MarkedObjects {
  /** As listed: one name may appear several times. */
  readonly objects: readonly DesiredObject[];
  readonly kinds: ResolvedKinds;
}

async function markedObjects(request: DesiredSetRequest): Promise<MarkedObjects> {
  const { objects, operation, discovery, signal, owner } = request;
  const problems = objects.flatMap((object) => contentProblem(object, owner) ?? []);
  if (problems.length > 0) throw invalidContent(problems, operation);
  const kinds = await resolveKinds(objects, discovery, signal);
  if (kinds.problems.length > 0) throw unknownKinds(kinds.problems, operation);
  const unplaced = unplacedObjects(request, kinds.resources);
  if (unplaced !== undefined) throw invalidContent([unplaced], operation);
  const marked: DesiredObject[] = [];
  const turns = new Turns();
  for (const object of objects) {
    // Tens of thousands of objects take a second: yield to other work.
    if (turns.isDue) {
      await turns.give();
      signal.throwIfAborted();
    }
    const resource = kinds.resources.get(kindKey(object));
    if (resource !== undefined) marked.push(desiredObject(object, resource, request));
  }
  return { objects: marked, kinds };
}

interface DesiredHooksRequest extends DesiredSetRequest {
  readonly hooks?: readonly KubernetesObject[];
}

/**
 * The hooks of a set with their kinds, which the set's own CRDs may define. Several may have one
 * name: each has events of its own.
 * @throws TerminalError when a hook can never be created, or has the name of another object of the
 * set.
 */
export async function desiredHooks(
  request: DesiredHooksRequest,
  { ids }: Pick<DesiredSet, 'ids'>,
): Promise<readonly DesiredObject[]> {
  const { hooks = [], operation } = request;
  if (hooks.length === 0) return [];
  const definitions = request.objects.filter((object) => isDefinition(gvkOf(object)));
  const marked = await markedObjects({ ...request, objects: [...definitions, ...hooks] });
  const found = marked.objects.filter(({ object }) => isHook(object));
  const twice = found.filter(({ id }) => ids.has(id));
  if (twice.length === 0) return found;
  const paths = twice.map(({ resource, key }) => objectPath(resource.kind, key));
  const names = [...new Set(paths)];
  throw new TerminalError(
    `the bundle has both as a hook and as an object to be kept: ${names.slice(0, listedHooks).join(', ')}; ` +
      `rename one of the two, or remove annotation ${annotation.hook}`,
    { reason: failedReason[operation] },
  );
}

/** The problem of objects that need a namespace and have none; undefined when there are none. */
function unplacedObjects(
  { objects, owner, systemNamespace, requireInstallNamespace = false }: DesiredSetRequest,
  resources: ReadonlyMap<string, Resource>,
): string | undefined {
  if (!requireInstallNamespace || hasInstallNamespace(owner)) return undefined;
  const unplaced = objects.filter(
    (object) => resources.get(kindKey(object))?.namespaced === true && !object.metadata.namespace,
  );
  if (unplaced.length === 0) return undefined;
  const names = unplaced.map(({ kind, metadata }) => `${kind} "${metadata.name}"`);
  return `${shortList(names, listedObjects)} would be installed in the system namespace "${systemNamespace}", which --require-service-account does not allow: set spec.installNamespace, or metadata.namespace of the objects`;
}

function invalidContent(problems: readonly string[], operation: 'install' | 'upgrade'): Error {
  return new TerminalError(problems.slice(0, 20).join(' && '), { reason: failedReason[operation] });
}

function unknownKinds(problems: readonly string[], operation: 'install' | 'upgrade'): Error {
  const list = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
  const message = `${unknownKind}${list}`;
  return operation === 'install'
    ? new TerminalError(missingResource + message, { reason: bundleDeploymentReason.installFailed })
    : new TerminalError(message, { reason: bundleDeploymentReason.errorGettingReleaseState });
}
