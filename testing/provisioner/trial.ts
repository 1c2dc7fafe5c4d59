import type {
  Bundle,
  BundleDeployment,
  BundleFiles,
  DeploymentContext,
  Provisioner,
} from '../../core/sdk.ts';
import { aBundle } from '../builders/bundle.ts';
import { aBundleDeployment } from '../builders/bundle-deployment.ts';
import { bundleFiles } from '../builders/bundle-files.ts';
import { aContext } from '../builders/context.ts';
import type { AcceptedContent, DeploymentFixture } from './fixtures.ts';
import { inputsFor } from './inputs-for.ts';

export type HandlerName = 'bundle' | 'inputs' | 'deployment';

/** What a handler is called with. */
export interface Given {
  readonly files: BundleFiles;
  readonly object: Bundle | BundleDeployment;
  readonly context: DeploymentContext;
}

/** One handler of a class with one fixture. */
export interface Trial {
  readonly handler: HandlerName;
  /** Such as `bundle "one file"`. */
  readonly title: string;
  /** What it is called with; made anew at every call. */
  given(): Promise<Given>;
  run(given: Given): Promise<unknown>;
}

export function bundleTrial(provisioner: Provisioner, fixture: AcceptedContent): Trial {
  return {
    handler: 'bundle',
    title: `bundle "${fixture.name}"`,
    given: async () => ({
      files: contentOf(fixture),
      object: aBundle({ className: provisioner.className }),
      context: aContext(),
    }),
    run: (given) => callHandler(provisioner, 'bundle', given),
  };
}

export function deploymentTrial(
  provisioner: Provisioner,
  handler: 'inputs' | 'deployment',
  fixture: DeploymentFixture,
): Trial {
  return {
    handler,
    title: `${handler === 'inputs' ? 'inputs of ' : ''}deployment "${fixture.name}"`,
    given: () => givenDeployment(provisioner, fixture),
    run: (given) => callHandler(provisioner, handler, given),
  };
}

/** What `deployment` gets in a cluster: stored content, and the values that `inputs` asks for. */
export async function givenDeployment(
  provisioner: Provisioner,
  fixture: DeploymentFixture,
): Promise<Given> {
  const { className, uses = [] } = provisioner;
  const { config } = fixture;
  const object = aBundleDeployment({ className, ...(config === undefined ? {} : { config }) });
  const { cluster, seed, ...always } = aContext();
  const context: DeploymentContext = {
    ...always,
    ...(uses.includes('cluster') && cluster ? { cluster: { ...cluster, ...fixture.cluster } } : {}),
    ...(uses.includes('seed') && seed ? { seed } : {}),
  };
  const sourced = contentOf(fixture);
  const bundle = aBundle({ className });
  const files = (await provisioner.bundle?.(sourced, bundle, context)) ?? sourced;
  return {
    files,
    object,
    context: { ...context, inputs: await inputsFor(provisioner, fixture, { object, context }) },
  };
}

async function callHandler(
  provisioner: Provisioner,
  handler: HandlerName,
  { files, object, context }: Given,
): Promise<unknown> {
  if (handler === 'bundle') return await provisioner.bundle?.(files, object as Bundle, context);
  if (handler === 'inputs') return await provisioner.inputs?.(object as BundleDeployment, context);
  return await provisioner.deployment?.(files, object as BundleDeployment, context);
}

function contentOf({ files }: Pick<AcceptedContent, 'files'>): BundleFiles {
  return isContent(files) ? copyOf(files) : bundleFiles(files);
}

function isContent(files: AcceptedContent['files']): files is BundleFiles {
  return files['files'] instanceof Map;
}

function copyOf({ files, directories }: BundleFiles): BundleFiles {
  return {
    files: new Map([...files].map(([path, content]) => [path, Uint8Array.from(content)])),
    directories: new Set(directories),
  };
}
