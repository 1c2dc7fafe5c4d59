import { fail } from 'node:assert';
import { annotation } from '../../api/v1alpha1/labels.ts';
import type {
  Bundle,
  BundleDeployment,
  BundleFiles,
  DeploymentContext,
  Provisioner,
  ProvisionerContext,
} from '../../core/sdk.ts';
import { bundleFiles } from '../content.ts';
import { aContext } from '../contexts.ts';
import { aBundle, aBundleDeployment } from '../objects.ts';
import type { AcceptedContent, DeploymentFixture } from './fixtures.ts';

/** The arguments of a handler. */
export interface Given {
  readonly files: BundleFiles;
  readonly object: Bundle | BundleDeployment;
  readonly context: DeploymentContext;
}

/** The arguments of `bundle` in a cluster. */
export function givenBundle({ className }: Provisioner, fixture: AcceptedContent): Given {
  return { files: contentOf(fixture), object: aBundle({ className }), context: aContext() };
}

interface Fixture extends Omit<DeploymentFixture, 'config'> {
  readonly config?: DeploymentFixture['config'] | undefined;
  /** Value for inputs that the fixture lacks (default: an error). */
  readonly otherInputs?: string;
}

/** The arguments of `configure` in a cluster: stored content of its own class. */
export async function givenConfigure(provisioner: Provisioner, fixture: Fixture): Promise<Given> {
  const { className, bundle } = provisioner;
  const config = structuredClone(fixture.config);
  const isConfigured = config !== undefined && provisioner.configure !== undefined;
  const annotations = isConfigured ? { annotations: { [annotation.configured]: 'true' } } : {};
  const object = aBundleDeployment({ className, ...(config === undefined ? {} : { config }) });
  const context = contextOf(provisioner, fixture);
  const sourced = contentOf(fixture);
  const ofBundle = aBundle({ className, ...annotations });
  const files = bundle === undefined ? sourced : await bundle(sourced, ofBundle, context);
  if (files === undefined) fail('its bundle returned no content');
  return { files, object, context };
}

/**
 * The arguments of `inputs` and `deployment` in a cluster: stored content as `configure` returns
 * it, and the values of `inputs`.
 */
export async function givenDeployment(provisioner: Provisioner, fixture: Fixture): Promise<Given> {
  const given = await givenConfigure(provisioner, fixture);
  const { context } = given;
  const object = given.object as BundleDeployment;
  const { configure } = provisioner;
  const stored = given.files;
  const files = configure === undefined ? stored : await configure(stored, object, context);
  if (files === undefined) fail('its configure returned no content');
  const inputs = await inputsOf(provisioner, fixture, { object, context });
  return { files, object, context: { ...context, inputs } };
}

function contextOf({ uses = [] }: Provisioner, fixture: Fixture): DeploymentContext {
  const { cluster, seed, ...always } = aContext();
  const ofCluster = uses.includes('cluster') && cluster !== undefined;
  const ofChance = uses.includes('seed') && seed !== undefined;
  return {
    ...always,
    ...(ofCluster ? { cluster: { ...cluster, ...fixture.cluster } } : {}),
    ...(ofChance ? { seed } : {}),
  };
}

async function inputsOf(
  { inputs }: Provisioner,
  { name, inputs: values = {}, otherInputs }: Fixture,
  { object, context }: { readonly object: BundleDeployment; readonly context: ProvisionerContext },
): Promise<readonly (Uint8Array | undefined)[]> {
  const references = (await inputs?.(object, context)) ?? [];
  return references.map((reference) => {
    const path = `${reference.kind}/${reference.name}/${reference.key}`;
    const value = values[path] ?? (reference.optional === true ? undefined : otherInputs);
    if (value === undefined && reference.optional !== true) {
      fail(`the class asks for ${path}: give it in the inputs of the fixture "${name}"`);
    }
    return typeof value === 'string' ? new TextEncoder().encode(value) : value;
  });
}

/** A fixture's content, in its own memory. */
function contentOf({ files }: Pick<AcceptedContent, 'files'>): BundleFiles {
  const content = isContent(files) ? files : bundleFiles(files);
  return {
    files: new Map([...content.files].map(([path, bytes]) => [path, Uint8Array.from(bytes)])),
    directories: new Set(content.directories),
  };
}

function isContent(files: AcceptedContent['files']): files is BundleFiles {
  return files['files'] instanceof Map;
}
