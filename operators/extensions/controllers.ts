import type { KubernetesObject } from '../../api/meta.ts';
import { type BundleDeployment, bundleDeploymentResource } from '../../api/v1alpha1/index.ts';
import {
  type Clock,
  Controller,
  type ControllerMetrics,
  type EventRecorder,
  IndexedCache,
  type KubeClient,
  type Logger,
  Reflector,
  type Resource,
  type Runnable,
  reflectorRunnable,
  Semaphore,
} from '../../core/controller.ts';
import type { CatalogContents, ContentChange, PackageResolver } from '../catalogs/index.ts';
import { ChoiceMemory } from './choice/choice-memory.ts';
import { Neighbours } from './choice/neighbours.ts';
import {
  type DependencyController,
  dependencyController,
  releaseController,
} from './dependencies/dependency-controller.ts';
import type { DependencyGate } from './dependencies/dependency-gate.ts';
import { isMarked } from './dependencies/made-operator.ts';
import type { ExtensionKind } from './extension.ts';
import { clusterExtensionKind } from './kinds/cluster-extension-kind.ts';
import { type OperatorOptions, operatorKind } from './kinds/operator-kind.ts';
import { ExtensionReconciler } from './reconciler.ts';

export interface ExtensionOptions extends OperatorOptions {
  readonly client: KubeClient;
  readonly contents: CatalogContents;
  readonly resolver: PackageResolver;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: ControllerMetrics | undefined;
  /** Make Operators for what Operators require, and delete them with the last one that does. */
  readonly installDependencies: boolean;
}

export interface ExtensionControllers {
  /** They fill the caches; the controllers may start when they are ready. */
  readonly caches: readonly Runnable[];
  /** One for each kind; only the leader runs them. */
  readonly controllers: readonly Runnable[];
}

interface KindInUse {
  readonly kind: ExtensionKind;
  readonly objects: IndexedCache;
}

/** Objects of one kind that are written at the same time. */
const writtenAtOnce = 8;

const packageIndex = 'package';

/** The controllers of Operators and ClusterExtensions, on the contents of the catalogs. */
export function extensionControllers(options: ExtensionOptions): ExtensionControllers {
  const deployments = new IndexedCache<BundleDeployment>();
  const operators = inUse(operatorKind(options));
  const extensions = inUse(clusterExtensionKind);
  const kinds = [operators, extensions];
  const neighbours = new Neighbours(kinds, deployments);
  const inUseNow = { operators, extensions, deployments };
  const wake = (operator: string): void => ofOperators.wakeOwner(operator);
  const dependencies = controllerOfDependencies(options, inUseNow, wake);
  const parts = { options, deployments, neighbours, dependencies: dependencies.gate };
  const ofOperators = startKind(operators, parts);
  const started = [ofOperators, startKind(extensions, parts)];
  const noteNeighbour = ({ metadata: { name = '' } }: KubernetesObject) => {
    const packages = neighbours.note(name);
    if (packages.size > 0) for (const { wakeDependents } of started) wakeDependents(packages);
  };
  for (const { objects } of kinds) objects.onChange(({ object }) => noteNeighbour(object));
  deployments.onChange(({ object }) => {
    for (const { wakeOwner } of started) wakeOwner(object.metadata.name ?? '');
    noteNeighbour(object);
  });
  const ofKinds = kinds.map(({ kind: { resource }, objects }) => ({ resource, sink: objects }));
  return {
    caches: [
      watching({ resource: bundleDeploymentResource, sink: deployments }, options),
      ...ofKinds.map((cache) => watching(cache, options)),
    ],
    controllers: [...started.map(({ controller }) => controller), dependencies.controller],
  };
}

interface CachesInUse {
  readonly operators: KindInUse;
  readonly extensions: KindInUse;
  readonly deployments: IndexedCache<BundleDeployment>;
}

function controllerOfDependencies(
  options: ExtensionOptions,
  { operators, extensions, deployments }: CachesInUse,
  wake: (operator: string) => void,
): DependencyController {
  const caches = { operators: operators.objects, extensions: extensions.objects };
  if (!options.installDependencies) {
    const release = releaseController({ ...options, ...caches }, options);
    operators.objects.onChange(({ object }) => {
      if (isMarked(object)) release.look();
    });
    return release;
  }
  const kinds = { operatorKind: operators.kind, extensionKind: extensions.kind };
  const world = { ...options, ...kinds, ...caches, deployments, wake };
  const installation = dependencyController(world, options);
  for (const cache of [operators.objects, extensions.objects, deployments]) {
    (cache as IndexedCache).onChange(() => installation.look());
  }
  return installation;
}

function inUse(kind: ExtensionKind): KindInUse {
  const packageOf = (object: KubernetesObject) => [kind.read(object).request.packageName];
  return { kind, objects: new IndexedCache({ [packageIndex]: packageOf }) };
}

interface KindParts {
  readonly options: ExtensionOptions;
  readonly deployments: IndexedCache<BundleDeployment>;
  readonly neighbours: Neighbours;
  readonly dependencies: DependencyGate | undefined;
}

function startKind(
  { kind, objects }: KindInUse,
  { options, deployments, neighbours, dependencies }: KindParts,
) {
  const { client, contents, resolver, events, clock, logger, metrics } = options;
  const choices = new ChoiceMemory({ contents, resolver, neighbours, clock });
  const places = new Semaphore(writtenAtOnce);
  const written = { deployments, places, events, clock };
  const parts = { kind, client, objects, choices, dependencies, ...written };
  const reconciler = new ExtensionReconciler(parts);
  const { kind: kindName } = kind.resource;
  const controller = new Controller({
    name: kindName.toLowerCase(),
    kind: kindName,
    reconcile: (name, context) => reconciler.reconcile(name, context),
    clock,
    logger,
    metrics,
    // A slow resolution delays no other object: resolving and writing have their places.
    workers: Number.POSITIVE_INFINITY,
  });
  objects.onChange(({ object }) => controller.enqueue(object.metadata.name ?? ''));
  contents.onChange((change) => {
    choices.note(change);
    for (const name of concerned({ kind, objects }, change, choices)) controller.enqueue(name);
  });
  return {
    controller: { name: `controller of ${kindName}s`, run: (s: AbortSignal) => controller.run(s) },
    wakeOwner: (name: string) => {
      if (objects.get({ name }) !== undefined) controller.enqueue(name);
    },
    wakeDependents: (packages: ReadonlySet<string>) => {
      for (const name of namesOf(objects.list())) {
        if (choices.dependsOn(`${kindName}/${name}`, packages)) controller.enqueue(name);
      }
    },
  };
}

/** The objects for which a change of a catalog may change something. */
function concerned(
  { kind, objects }: KindInUse,
  { catalog, packages }: ContentChange,
  choices: ChoiceMemory,
): readonly string[] {
  if (catalog.kind !== kind.catalogKind) return [];
  const ofPackages = [...packages].flatMap((name) => objects.byIndex(packageIndex, name));
  // The state of a catalog is part of why an object is not resolved.
  const unresolved = objects
    .list()
    .filter(({ metadata }) => choices.isUnresolved(`${kind.resource.kind}/${metadata.name}`));
  return namesOf([...ofPackages, ...unresolved]);
}

function namesOf(objects: readonly KubernetesObject[]): readonly string[] {
  return [...new Set(objects.map(({ metadata }) => metadata.name ?? ''))];
}

function watching<T extends KubernetesObject>(
  { resource, sink }: { readonly resource: Resource; readonly sink: IndexedCache<T> },
  { client, clock, logger }: ExtensionOptions,
): Runnable {
  const transform = (object: KubernetesObject) => withoutManagedFields(object) as T;
  const reflector = new Reflector<T>({ client, resource, sink, transform, clock, logger });
  return reflectorRunnable(`watch of ${resource.kind}s`, reflector);
}

/** Of Operators that the controller made, they tell whether a user has written the spec. */
function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  if (isMarked(object) || !('managedFields' in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
