import { fail } from 'node:assert';
import type { BundleDeployment, Provisioner, ProvisionerContext } from '../../core/sdk.ts';
import type { DeploymentFixture } from './fixtures.ts';

/** The values that a class asks for, as the fixture has them. */
export async function inputsFor(
  { inputs }: Provisioner,
  fixture: Pick<DeploymentFixture, 'name' | 'inputs'>,
  given: { readonly object: BundleDeployment; readonly context: ProvisionerContext },
): Promise<readonly (Uint8Array | undefined)[]> {
  const references = (await inputs?.(given.object, given.context)) ?? [];
  return references.map(({ kind, name, key, optional }) => {
    const path = `${kind}/${name}/${key}`;
    const value = fixture.inputs?.[path];
    if (value === undefined && optional !== true) {
      fail(`the class asks for ${path}: give it in the inputs of the fixture "${fixture.name}"`);
    }
    return typeof value === 'string' ? new TextEncoder().encode(value) : value;
  });
}
