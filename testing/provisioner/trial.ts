import type { Provisioner } from '../../core/sdk.ts';
import { aBundle } from '../builders/bundle.ts';
import { aContext } from '../builders/context.ts';
import { callHandler } from './call-handler.ts';
import { contentOf } from './content-of.ts';
import type { AcceptedContent, ConfiguredContent, DeploymentFixture } from './fixtures.ts';
import type { Given, HandlerName } from './given.ts';
import { givenConfigure, givenDeployment } from './given-deployment.ts';

/** One handler of a class with one fixture. */
export interface Trial {
  readonly handler: HandlerName;
  /** Such as `bundle "one file"`. */
  readonly title: string;
  /** Whether content comes to it as users wrote it. */
  readonly takesAnyContent: boolean;
  /** The fixture's. */
  readonly config?: DeploymentFixture['config'];
  /** What it is called with, made anew at every call; with another config, or none, where told. */
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
    given: async () => ({
      files: contentOf(fixture),
      object: aBundle({ className: provisioner.className }),
      context: aContext(),
    }),
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
