import { createHash } from 'node:crypto';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { creatorOf } from '../../../api/v1alpha1/rules/creator.ts';
import { handlerOf, nameClass, OutOfTimeError } from '../../classes/index.ts';
import { checkFiles } from '../../content/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type {
  DeploymentContext,
  Provisioner,
  ProvisionerContext,
} from '../../contracts/provisioner.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import { checkObjectCount, leftOutMessage, withoutLeftOut } from '../../manifests/index.ts';
import { type InTurn, withTimeLimit } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { stillNames } from '../facts/input-references.ts';
import { type Facts, factsFor, type RenderingClasses } from '../facts/render-facts.ts';
import type { LiveDeployment } from '../live-deployment.ts';
import { type BundleDeploymentState, longestWait, type PhaseContext } from '../phase.ts';
import { withWarningEvents } from './class-warnings.ts';
import type { Recipe, Rendered, Rendering } from './rendered-objects.ts';

/**
 * Renders the target's stored content: the Bundle's class adapts it, and the deployment's class
 * turns it into objects. Reuses a remembered result for the same inputs.
 */
export async function render(
  { deployment, target: bundle }: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Rendered | undefined> {
  const classes = bundle && classesOf({ deployment, bundle }, dependencies);
  if (bundle === undefined || classes === undefined) return undefined;
  const limit = limitOf(deployment, dependencies, context);
  return await limited(limit, async (handlerContext) => {
    const prepared = await dependencies.facts.prepare(deployment, classes, handlerContext);
    const rendering = { deployment, bundle, factsVersion: prepared.version };
    const known = dependencies.rendered.get(rendering);
    if (known !== undefined) return known;
    const failure = dependencies.rendered.failureOf(rendering);
    if (failure !== undefined) throw lasting(failure, context);
    const installed = isActive(bundle, deployment);
    const making = { ...rendering, classes, installed, read: () => prepared.read() };
    const { events } = dependencies;
    const logger = withWarningEvents({ ...handlerContext, events, deployment });
    const telling = { ...handlerContext, logger };
    return await make(making, dependencies, { handlerContext: telling, context });
  });
}

/**
 * Renders a recipe again with its own facts, whatever the present ones are; undefined if the class
 * names other inputs meanwhile.
 */
export async function renderAgain(
  recipe: Recipe,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Rendered | undefined> {
  const known = dependencies.rendered.get(recipe);
  if (known !== undefined) return known;
  const classes = classesOf(recipe, dependencies);
  if (classes === undefined) return undefined;
  const making = { ...recipe, classes, installed: true, read: async () => recipe.facts };
  const limit = limitOf(recipe.deployment, dependencies, context);
  const { references = [] } = recipe.facts;
  return await limited(limit, async (handlerContext) => {
    const inputs = { deployment: recipe.deployment, references };
    if (!(await stillNames(inputs, classes.deployment, handlerContext))) return undefined;
    const { objects, leftOut } = await make(making, dependencies, { handlerContext, context });
    return { recipe, objects, leftOut };
  });
}

/** Renders a recipe with another seed: objects that differ have generated values. */
export async function renderWithOtherSeed(
  recipe: Recipe,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<readonly KubernetesObject[]> {
  const classes = classesOf(recipe, dependencies);
  if (classes === undefined) return [];
  const seed = createHash('sha256')
    .update(recipe.facts.seed ?? '')
    .digest();
  const read = async (): Promise<Facts> => ({ ...recipe.facts, seed });
  const making = { ...recipe, factsVersion: undefined, classes, installed: true, read };
  const limit = limitOf(recipe.deployment, dependencies, context);
  const { objects } = await limited(limit, async (handlerContext) =>
    make(making, dependencies, { handlerContext, context }),
  );
  return objects;
}

interface RenderLimit extends ProvisionerContext {
  readonly creator: string;
  readonly live: Pick<LiveDeployment, 'atWork'>;
}

function limitOf(
  deployment: BundleDeployment,
  { limits }: Pick<ReconcileDependencies, 'limits'>,
  { signal, logger, live }: PhaseContext,
): RenderLimit {
  return { limits, signal, logger, live, creator: creatorOf(deployment) };
}

async function limited<T>(
  { creator, live, ...context }: RenderLimit,
  run: (context: InTurn<ProvisionerContext>) => Promise<T>,
): Promise<T> {
  const { timeout } = context.limits;
  return await withTimeLimit(
    async (signal, countdown) => await run({ ...context, signal, turn: { creator, countdown } }),
    { limit: timeout, grace: timeout / 20, signal: context.signal, by: () => live.atWork },
  );
}

interface Making extends Rendering {
  readonly classes: RenderingClasses;
  readonly installed: boolean;
  readonly read: () => Promise<Facts>;
}

async function make(
  { classes, installed, read, ...rendering }: Making,
  dependencies: ReconcileDependencies,
  {
    handlerContext,
    context,
  }: { readonly handlerContext: InTurn<ProvisionerContext>; readonly context: PhaseContext },
): Promise<Rendered> {
  const { deployment, bundle, factsVersion } = rendering;
  const stored = await dependencies.content.load(bundle, handlerContext.signal);
  const facts = await read();
  const given = { ...handlerContext, ...facts, ...(installed ? { installed } : {}) };
  try {
    const { live } = context;
    const made = await objectsOf(stored, deployment, { classes, given, live });
    const { objects, leftOut } = withoutLeftOut(made);
    for (const each of leftOut) {
      const event = { reason: 'ObjectLeftOut', message: leftOutMessage(each) };
      dependencies.events.event(deployment, { type: 'Warning', ...event });
    }
    const rendered = { recipe: { deployment, bundle, factsVersion, facts }, objects, leftOut };
    dependencies.rendered.set(rendered, sizeOf(stored));
    return rendered;
  } catch (error) {
    const usesCluster = given.cluster !== undefined;
    if (error instanceof WaitingError && usesCluster) lookAgain(dependencies, context);
    if (!(error instanceof OutOfTimeError || (error instanceof TerminalError && usesCluster))) {
      throw error;
    }
    dependencies.rendered.setFailure(rendering, error);
    throw lasting(error, context);
  }
}

/**
 * A class may wait for a change of the cluster that sends no event, and the next attempt must see
 * it.
 */
function lookAgain({ facts }: ReconcileDependencies, { wakeAfter }: PhaseContext): void {
  facts.renew();
  wakeAfter(longestWait);
}

/**
 * An error that lasts while the inputs do. Of the cluster's APIs, which are one of them, no event
 * tells.
 */
function lasting(error: TerminalError, { wakeAfter }: PhaseContext): TerminalError {
  if (!(error instanceof OutOfTimeError)) wakeAfter(longestWait);
  return error;
}

/** @throws TerminalError when no class would use spec.config. */
function classesOf(
  { deployment, bundle }: { readonly deployment: BundleDeployment; readonly bundle: Bundle },
  { provisioners, bundleClasses }: ReconcileDependencies,
): RenderingClasses | undefined {
  const own = provisioners.get(deployment.spec.provisionerClassName);
  if (own?.deployment === undefined) return undefined;
  const ofBundle = bundleClasses.get(bundle.spec.provisionerClassName);
  if (ofBundle?.configure !== undefined) return { deployment: own, bundle: ofBundle };
  checkConfig(deployment, bundle, ofBundle);
  return { deployment: own };
}

/**
 * A class that deploys its own Bundles receives spec.config in its `deployment` handler (ADR 51).
 */
function checkConfig(
  { spec }: BundleDeployment,
  { metadata: { name }, spec: { provisionerClassName: className } }: Bundle,
  ofBundle: Provisioner | undefined,
): void {
  if (spec.config === undefined || className === spec.provisionerClassName) return;
  const why =
    ofBundle === undefined
      ? `this process does not serve class "${className}". Serve class "${className}" in this process too, or remove spec.config`
      : `class "${className}" has no handler "configure". Add the handler to the class, or remove spec.config`;
  throw new TerminalError(
    `spec.config cannot be applied to Bundle "${name}" of class "${className}": ${why}`,
  );
}

function isActive({ metadata }: Bundle, { status }: BundleDeployment): boolean {
  return metadata.name !== undefined && metadata.name === status?.activeBundle;
}

interface Handling {
  readonly classes: RenderingClasses;
  /** The context for both classes. */
  readonly given: DeploymentContext;
  readonly live: LiveDeployment;
}

async function objectsOf(
  stored: BundleFiles,
  deployment: BundleDeployment,
  { classes, given, live }: Handling,
): Promise<readonly KubernetesObject[]> {
  const { bundle: ofBundle, deployment: own } = classes;
  let files = stored;
  const { configure } = ofBundle ?? {};
  if (ofBundle !== undefined && configure !== undefined) {
    const context = { ...factsFor(ofBundle, given), inputs: [] };
    const run = () =>
      nameClass(ofBundle, 'configure', () => configure(stored, deployment, context));
    files = await live.whileAtWork(handlerOf(ofBundle, 'configure'), run);
    if (files !== stored) checkFiles(files, given.limits);
  }
  const run = () =>
    nameClass(own, 'deployment', async () =>
      own.deployment?.(files, deployment, factsFor(own, given)),
    );
  const objects = await live.whileAtWork(handlerOf(own, 'deployment'), run);
  checkObjectCount(objects.length, given.limits.maxEntries);
  return objects;
}

function sizeOf({ files }: BundleFiles): number {
  let bytes = 0;
  for (const content of files.values()) bytes += content.byteLength;
  return bytes;
}
