import type { Bundle, BundleDeployment, BundleFiles, Provisioner } from '../../core/sdk.ts';
import { contentTexts } from '../content.ts';
import type { AcceptedContent, ConfiguredContent, DeploymentFixture } from './fixtures.ts';
import { type Given, givenBundle, givenConfigure, givenDeployment } from './given.ts';

export type HandlerName = 'bundle' | 'configure' | 'inputs' | 'deployment';

/** One handler of a class with one fixture. */
export interface Trial {
  readonly handler: HandlerName;
  /** Such as `bundle "one file"`. */
  readonly title: string;
  /** Whether the handler receives content unchanged from users. */
  readonly takesAnyContent: boolean;
  /** The fixture's config. */
  readonly config?: DeploymentFixture['config'];
  /** The handler's arguments, created for each call; with another config, or none, on request. */
  given(changed?: ChangedConfig): Promise<Given>;
  run(given: Given): Promise<unknown>;
}

interface ChangedConfig {
  readonly config: DeploymentFixture['config'] | undefined;
}

export function bundleTrial(provisioner: Provisioner, fixture: AcceptedContent): Trial {
  return {
    handler: 'bundle',
    title: `bundle "${fixture.name}"`,
    takesAnyContent: true,
    given: async () => givenBundle(provisioner, fixture),
    run: (given) => callHandler(provisioner, 'bundle', given),
  };
}

export function configureTrial(provisioner: Provisioner, fixture: ConfiguredContent): Trial {
  return {
    handler: 'configure',
    title: `configure "${fixture.name}"`,
    takesAnyContent: false,
    ...(fixture.config === undefined ? {} : { config: fixture.config }),
    given: (changed) => givenConfigure(provisioner, { ...fixture, ...changed }),
    run: (given) => callHandler(provisioner, 'configure', given),
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
    takesAnyContent: handler === 'deployment' && provisioner.bundle === undefined,
    ...(fixture.config === undefined ? {} : { config: fixture.config }),
    given: (changed) =>
      givenDeployment(provisioner, {
        ...fixture,
        ...(changed === undefined ? {} : { ...changed, otherInputs: '' }),
      }),
    run: (given) => callHandler(provisioner, handler, given),
  };
}

/** Calls one handler of a class; returns nothing for a missing one. */
export async function callHandler(
  provisioner: Provisioner,
  handler: HandlerName,
  { files, object, context }: Given,
): Promise<unknown> {
  if (handler === 'bundle') return await provisioner.bundle?.(files, object as Bundle, context);
  if (handler === 'inputs') return await provisioner.inputs?.(object as BundleDeployment, context);
  return await provisioner[handler]?.(files, object as BundleDeployment, context);
}

/** Whether a handler returns content; the others return lists. */
export function givesContent(handler: HandlerName): boolean {
  return handler === 'bundle' || handler === 'configure';
}

/** A result in a form with readable differences. */
export function comparable(handler: HandlerName, result: unknown): unknown {
  if (!givesContent(handler)) return result;
  const content = result as BundleFiles;
  return { files: contentTexts(content), directories: [...content.directories].toSorted(inOrder) };
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
